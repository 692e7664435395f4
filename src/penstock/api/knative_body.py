"""Bodies of requests below /api and /apis: JSON, or YAML where the client says so."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from penstock.api import knative_wire
from penstock.errors import FormatError, UnsupportedError

_JSON, _YAML = "application/json", "application/yaml"


class _Loader(yaml.SafeLoader):
    """Reads YAML as Kubernetes does: what looks like a date stays a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def media_type(text: str) -> str:
    """Return the media type of a request without its parameters."""
    return text.partition(";")[0].strip().lower() or _JSON


def document(body: bytes, media: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value in a body that must be an object."""
    if media == knative_wire.MEDIA_TYPE:
        return knative_wire.document(body)
    if media not in (_JSON, _YAML, "*/*"):
        raise UnsupportedError(f"send {_JSON} or {_YAML}, not {media}", what=media)
    return from_json(body) if media == _JSON else from_yaml(body)


def from_json(body: bytes) -> Any:  # noqa: ANN401
    """Return the JSON value in a body."""
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as exc:
        raise FormatError(f"the body is not JSON: {exc}", format="json") from exc
    except RecursionError as exc:
        raise FormatError("the JSON is nested too deeply", format="json") from exc


def from_yaml(body: bytes) -> Any:  # noqa: ANN401
    """Return the value in a body of YAML, of which JSON is a part."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        found = yaml.load(body, _Loader)  # noqa: S506 - a safe loader
        # What JSON cannot say, YAML must not say either.
        return msgspec.json.decode(msgspec.json.encode(found))
    except (yaml.YAMLError, msgspec.MsgspecError, RecursionError, TypeError, ValueError) as exc:
        raise FormatError(f"the body is not YAML: {exc}", format="yaml") from exc
