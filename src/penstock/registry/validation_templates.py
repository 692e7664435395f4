"""Values with placeholders, matched against the attributes of events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")
# What a placeholder stands for (RA-82).
_ANYTHING = "[^/?#]+"
_RUN = re.compile(_ANYTHING)
_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Template:
    """A value with placeholders; `literals` are the texts before, between and after them."""

    literals: tuple[str, ...]
    names: tuple[str, ...]
    pattern: re.Pattern[str]


def template(text: str) -> Template | None:
    """Return the template that a text is, or None where it has no placeholders."""
    parts = _PLACEHOLDER.split(text)
    literals, names = tuple(parts[::2]), tuple(parts[1::2])
    return Template(literals, names, _pattern(literals)) if names else None


def _pattern(literals: Sequence[str]) -> re.Pattern[str]:
    # Each placeholder but the last takes as little as it can and never reconsiders: whatever it
    # leaves, the next one can take. So a hostile text costs no more than its length.
    inner = "".join(f"(?>({_ANYTHING}?){re.escape(each)})" for each in literals[1:-1])
    return re.compile(f"{re.escape(literals[0])}{inner}({_ANYTHING}){re.escape(literals[-1])}")


def agree(pairs: Sequence[tuple[Template, str]]) -> bool:
    """Say whether each placeholder can stand for one value in all texts; each text matches.

    Where a text can be read in several ways, some thousand are tried before the answer is no.
    """
    bound: dict[str, str] = {}
    for each, text in pairs:
        found = each.pattern.fullmatch(text)
        if found is None:
            return False
        if not _bind(bound, each.names, found.groups()):
            return _Search().fits(pairs, {})
    return True


def _bind(bound: dict[str, str], names: Sequence[str], values: Sequence[str]) -> bool:
    return all(
        bound.setdefault(name, value) == value for name, value in zip(names, values, strict=True)
    )


class _Search:
    def __init__(self) -> None:
        self._left = _STEPS

    def fits(self, pairs: Sequence[tuple[Template, str]], bound: Mapping[str, str]) -> bool:
        if not pairs:
            return True
        each, text = pairs[0]
        ways = self._ways(each, 0, text[len(each.literals[0]) :], bound)
        return any(self.fits(pairs[1:], found) for found in ways)

    def _ways(
        self, each: Template, index: int, text: str, bound: Mapping[str, str]
    ) -> Iterator[Mapping[str, str]]:
        if index == len(each.names):
            if not text:
                yield bound
            return
        name, literal = each.names[index], each.literals[index + 1]
        for value in _values(text, bound.get(name)):
            self._left -= 1
            if self._left < 0:
                return
            if text.startswith(literal, len(value)):
                rest = text[len(value) + len(literal) :]
                yield from self._ways(each, index + 1, rest, {**bound, name: value})


def _values(text: str, known: str | None) -> Iterator[str]:
    if known is not None:
        if text.startswith(known):
            yield known
        return
    run = _RUN.match(text)
    for end in range(1, run.end() + 1 if run else 0):
        yield text[:end]
