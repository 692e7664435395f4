from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.served import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests of a file; each looks only at what it stored itself."""
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running
