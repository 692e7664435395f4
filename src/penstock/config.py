"""Settings: from a file, then the environment, then flags; unknown keys are refused."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from penstock.errors import Problem, ResourceError

_PREFIX = "PENSTOCK_"
# Names with the prefix that belong to the tools around the server, not to its settings.
_FOREIGN = frozenset(
    f"PENSTOCK_{name}"
    for name in ("CI", "CONFIG", "FUZZ", "KEY", "PARENT", "PRELOAD", "SETTINGS_JSON")
)

Positive = Annotated[int, Meta(ge=1)]
# Bounded, for no clock can count to infinity.
Seconds = Annotated[float, Meta(gt=0, le=1e9)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything that can be set: as a flag, in a file, or as PENSTOCK_… in the environment."""

    host: str = "127.0.0.1"
    """Address to listen on; the default is reachable from this machine only."""
    port: Annotated[int, Meta(ge=0, le=65535)] = 8080
    """Port to listen on; 0 takes a free one."""
    data: str = "./penstock-data"
    """Directory that holds all state of the embedded default."""
    url: str = ""
    """Public base address, where it differs from host and port."""
    service_name: Annotated[str, Meta(max_length=200)] = "penstock"
    """Name under which /services lists this server; empty to leave it out."""
    key_file: str = ""
    """File with the keys for secrets; by default penstock.key in your configuration directory."""
    handshake: Annotated[str, Meta(pattern="^(off|try|require)$")] = "off"
    """off, try or require: whether sinks must consent where a subscription says nothing of it."""
    origin: Annotated[str, Meta(pattern="^[A-Za-z0-9._:-]*$", max_length=255)] = ""
    """DNS name by which sinks know us; by default that of `url`, or of the machine."""
    log_level: Annotated[str, Meta(pattern="^(debug|info|warning|error)$")] = "info"
    """debug, info, warning or error."""
    log_format: Annotated[str, Meta(pattern="^(text|json)$")] = "text"
    """text for people, json for machines."""
    event_bytes: Annotated[int, Meta(ge=65_536)] = 1 << 20
    """Largest event that is accepted, in bytes."""
    batch_bytes: Annotated[int, Meta(ge=65_536)] = 8 << 20
    """Largest request that is accepted, in bytes."""
    backlog_events: Positive = 5_000_000
    """Events that may wait for delivery before publishing is refused with 503."""
    subscriptions: Positive = 100_000
    """Subscriptions that there may be."""
    registry_bytes: Annotated[int, Meta(ge=1024)] = 32 << 20
    """Largest document that the registry imports, and largest answer with collections inlined."""
    retention_days: Seconds = 7.0
    """Days after which delivered events leave the log."""
    retention_bytes: Annotated[int, Meta(ge=1 << 20)] = 10 << 30
    """Bytes that the log may take before the oldest delivered events leave it."""
    batch_events: Positive = 20_000
    """Most events in one micro-batch."""
    batch_seconds: Seconds = 0.5
    """Time budget of a micro-batch: slower answers are waited for elsewhere."""
    slots: Positive = 4
    """Task slots of the local Spark; more than cores, because deliveries mostly wait."""
    retry_shards: Positive = 1
    """Tasks among which the destinations of parked deliveries are shared."""
    retry_epoch_seconds: Seconds = 30.0
    """How long such a task runs before Spark starts it anew."""
    driver_memory: str = "512m"
    """Heap of the Spark driver."""
    spark_master: str = ""
    """Address of a Spark cluster; empty for Spark inside the pipeline process."""

    @property
    def folder(self) -> Path:
        return Path(self.data)

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.url or f"http://{host}:{self.port}"


def settings(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Settings:
    """Return the settings, or raise ResourceError naming every wrong one."""
    environment = os.environ if environment is None else environment
    file = file or (
        Path(environment["PENSTOCK_CONFIG"]) if "PENSTOCK_CONFIG" in environment else None
    )
    values: dict[str, Any] = {} if file is None else _from_file(file)
    values |= _from_environment(environment)
    values |= {key: value for key, value in (flags or {}).items() if value is not None}
    return _checked(values)


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ResourceError([Problem(str(path), f"cannot be read: {exc}")]) from exc


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        key.removeprefix(_PREFIX).lower(): value
        for key, value in environment.items()
        if key.startswith(_PREFIX) and key not in _FOREIGN
    }


def _checked(values: Mapping[str, Any]) -> Settings:
    known = Settings.__struct_fields__
    problems = [
        Problem(key, f"is no setting; known are {', '.join(sorted(known))}")
        for key in values
        if key not in known
    ]
    for key in known:
        if key in values:
            try:
                # One at a time, so that every wrong setting is named, not only the first.
                msgspec.convert({key: values[key]}, Settings, strict=False)
            except msgspec.ValidationError as exc:
                problems.append(Problem(key, str(exc).split(" - at ")[0]))
    if problems:
        raise ResourceError(problems)
    return msgspec.convert(dict(values), Settings, strict=False)
