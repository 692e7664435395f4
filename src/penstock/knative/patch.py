"""Patches: JSON merge patch, JSON patch, and the strategic merge of core kinds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from penstock.errors import Problem, ResourceError

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

# By which member the elements of these lists are told apart; "" means by their value.
_KEYS = {"ports": "port", "ownerReferences": "uid", "finalizers": ""}
_ORDER, _DELETE, _RETAIN, _PATCH = (
    "$setElementOrder/",
    "$deleteFromPrimitiveList/",
    "$retainKeys",
    "$patch",
)


def merged(target: Any, patch: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return what a JSON merge patch makes of a value (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    made = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = merged(made.get(name), value)
    return made


def strategic(target: Any, patch: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return what a strategic merge patch makes of a value."""
    if not isinstance(patch, Mapping):
        return patch
    directive = patch.get(_PATCH)
    made = dict(target) if isinstance(target, Mapping) and directive != "replace" else {}
    if _RETAIN in patch:
        made = {name: value for name, value in made.items() if name in patch[_RETAIN]}
    for name, value in patch.items():
        _strategic_member(made, name, value)
    return made


def _strategic_member(made: dict[str, Any], name: str, value: Any) -> None:  # noqa: ANN401
    if name in (_PATCH, _RETAIN) or name.startswith(_ORDER):
        return
    if name.startswith(_DELETE):
        which = name.removeprefix(_DELETE)
        made[which] = [each for each in made.get(which) or [] if each not in value]
    elif value is None:
        made.pop(name, None)
    elif isinstance(value, list) and name in _KEYS:
        made[name] = _merged_list(made.get(name) or [], value, _KEYS[name])
    else:
        made[name] = strategic(made.get(name), value)


def _merged_list(target: list[Any], patch: list[Any], key: str) -> list[Any]:
    if not key:
        return [*target, *(each for each in patch if each not in target)]
    if any(_directive(each) == "replace" for each in patch):
        return [each for each in patch if _directive(each) != "replace"]
    made = list(target)
    for each in patch:
        same = [old for old in made if old.get(key) == each.get(key)]
        if _directive(each) == "delete":
            made = [old for old in made if old not in same]
        elif same:
            made = [strategic(old, each) if old in same else old for old in made]
        else:
            made.append(each)
    return made


def _directive(element: object) -> object:
    return element.get(_PATCH) if isinstance(element, Mapping) else None


def operated(target: Any, operations: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return what the operations of a JSON patch make of a value (RFC 6902)."""
    if not isinstance(operations, list):
        raise ResourceError([Problem("", "Invalid value: a JSON patch is an array of operations")])
    made = copy.deepcopy(target)
    for number, operation in enumerate(operations):
        try:
            made = _operated(made, operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as exc:
            detail = f"Invalid value: the operation cannot be done: {exc}"
            raise ResourceError([Problem(f"[{number}]", detail)]) from exc
    return made


def _operated(target: Any, operation: Mapping[str, Any]) -> Any:  # noqa: ANN401
    path = _pointer(operation["path"])
    name = operation["op"]
    if name in ("move", "copy"):
        return _carried(target, _pointer(operation["from"]), path, is_move=name == "move")
    if name == "test":
        if _at(target, path) != operation["value"]:
            raise ValueError(f"{operation['path']} is not as expected")
        return target
    if name == "remove":
        return _changed(target, path, _remove)
    value = operation["value"]
    if name == "add":
        return _changed(target, path, lambda holder, key: _add(holder, key, value))
    if name == "replace":
        return _changed(target, path, lambda holder, key: _replace(holder, key, value))
    raise ValueError(f"unknown operation {name!r}")


def _carried(target: Any, source: list[str], path: list[str], *, is_move: bool) -> Any:  # noqa: ANN401
    value = copy.deepcopy(_at(target, source))
    if is_move:
        if path[: len(source)] == source and path != source:
            raise ValueError("nothing can be moved into itself")
        target = _changed(target, source, _remove)
    return _changed(target, path, lambda holder, key: _add(holder, key, value))


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"{text!r} is no JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _at(target: Any, path: list[str]) -> Any:  # noqa: ANN401
    for key in path:
        target = target[_index(target, key)] if isinstance(target, list) else target[key]
    return target


def _changed(target: Any, path: list[str], change: Callable[[Any, str], Any]) -> Any:  # noqa: ANN401
    if not path:
        return change({"": target}, "")
    change(_at(target, path[:-1]), path[-1])
    return target


def _add(holder: Any, key: str, value: Any) -> Any:  # noqa: ANN401
    if isinstance(holder, list):
        place = len(holder) if key == "-" else _index(holder, key, beyond=True)
        holder.insert(place, value)
    else:
        holder[key] = value
    return value


def _remove(holder: Any, key: str) -> Any:  # noqa: ANN401
    del holder[_index(holder, key) if isinstance(holder, list) else key]


def _replace(holder: Any, key: str, value: Any) -> Any:  # noqa: ANN401
    if isinstance(holder, list):
        holder[_index(holder, key)] = value
    else:
        _ = holder[key]
        holder[key] = value
    return value


def _index(holder: list[Any], key: str, *, beyond: bool = False) -> int:
    if not (key.isascii() and key.isdigit()) or (key[0] == "0" and key != "0"):
        raise ValueError(f"{key!r} is no index")
    if int(key) > len(holder) - (not beyond):
        raise IndexError(f"there is no element {key}")
    return int(key)
