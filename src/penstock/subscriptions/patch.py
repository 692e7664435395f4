"""JSON merge patches (RFC 7396) of subscriptions."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.subscriptions.handling import marked
from penstock.subscriptions.protocols import PROTOCOLS
from penstock.subscriptions.reading import Reading, refuse
from penstock.subscriptions.subscription import Subscription

_FILTERS = "filters"


def proposal(before: Subscription, patch: object) -> dict[str, object]:
    """Return the document that a patch makes of a subscription, or raise ResourceError."""
    if not isinstance(patch, Mapping):
        raise refuse("", "a merge patch of a subscription is a JSON object")
    reading = Reading()
    # With its secrets: they are not lost when something beside them is patched.
    document = before.document() | {"protocolsettings": marked(before.protocolsettings)}
    changes = _renamed(reading, patch, document, {"filter": _FILTERS})
    if isinstance(single := changes.get(_FILTERS), Mapping):
        changes[_FILTERS] = [single] if single else []
    if changes.get("protocol", before.protocol) != before.protocol:
        # What is set for one protocol means nothing to another.
        document["protocolsettings"] = {}
    aliases = {"protocolsettings": PROTOCOLS[before.protocol].aliases}
    for name in ("protocolsettings", "sinkCredential"):
        old, new = document.get(name), changes.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            changes[name] = _renamed(reading, new, old, aliases.get(name, {}), f"{name}.")
    reading.finish()
    return merged(document, changes)


def merged(document: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    """Return the document with the members of the patch put in; null removes a member."""
    made = dict(document)
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        elif isinstance(value, Mapping):
            old = made.get(name)
            made[name] = merged(old if isinstance(old, Mapping) else {}, value)
        else:
            made[name] = value
    return made


def _renamed(
    reading: Reading,
    patch: Mapping[str, object],
    document: Mapping[str, object],
    aliases: Mapping[str, str],
    path: str = "",
) -> dict[str, object]:
    """Return the patch with its members named as in the document, whatever their case."""
    proper = {name.lower(): name for name in document} | dict(aliases)
    made: dict[str, object] = {}
    for spelled, value in patch.items():
        name = proper.get(spelled.lower(), spelled)
        if name in made:
            reading.fault(path + name, "is there twice, in two spellings")
        made[name] = value
    return made
