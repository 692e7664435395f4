"""Rows of a batch put into groups: those of a group are alike to every filter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Codes = npt.NDArray[np.int64]
_HUGE = 1 << 62


class Numbered(NamedTuple):
    """A number below `width` for every row: rows of one number are alike."""

    codes: Codes
    width: int


class Groups(NamedTuple):
    """For every row its group, and for every group its first row."""

    codes: Codes
    firsts: Codes


def numbered(values: pa.Array) -> Numbered:
    """Return a number per row; null has one of its own, after those of the values."""
    encoded = values.dictionary_encode()
    return Numbered(codes(encoded), len(encoded.dictionary) + 1)


def codes(encoded: pa.DictionaryArray) -> Codes:
    """Return the number of every row's value; null has the number after those of the values."""
    filled = encoded.indices.fill_null(len(encoded.dictionary))
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.int64)


def grouped(columns: Iterable[Numbered]) -> Groups:
    """Return the groups of rows that are alike in every column."""
    keys: Codes = np.zeros(1, dtype=np.int64)
    size = 1
    for numbers, width in columns:
        if size * width >= _HUGE:
            keys, size = numbered(pa.array(keys))
        keys, size = keys * width + numbers, size * width
    groups, width = numbered(pa.array(keys))
    firsts = np.empty(width - 1, dtype=np.int64)
    firsts[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)
    return Groups(groups, firsts)


def split(groups: Groups, rows: Codes, columns: Iterable[Numbered]) -> Groups:
    """Return the groups with some rows, which come as their columns, put into finer new ones."""
    finer = grouped([Numbered(groups.codes[rows], len(groups.firsts)), *columns])
    changed = groups.codes.copy()
    changed[rows] = finer.codes + len(groups.firsts)
    return Groups(changed, np.concatenate([groups.firsts, rows[finer.firsts]]))
