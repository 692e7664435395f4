from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tools import conformance
from tools.conformance import Outcome, State

ROOT = Path(__file__).parent.parent

TABLE = """\
# Tea brewing: requirements

| id | level | requirement |
|---|---|---|
| TEA-001 | MUST | Water boils. |
| TEA-002 | MUST | The pot is warm. |
| TEA-003 | MAY | Milk may be added. |
| TEA-004 | MUST | Leaves stay in the pot. |
| TEA-005 | SHOULD | The guest feels welcome. |
| TEA-006 | MUST | Sugar dissolves. |

## Decisions

| no. | place | decision | reason |
|---|---|---|---|
| TA-01 | Milk first or last. | Last. | Taste. |
"""

NOT_OBSERVABLE = """\
# Requirements no test can show

| id | reason |
|---|---|
| TEA-005 | Nobody can measure it. |
"""

TESTS = """\
import pytest

@pytest.mark.covers("TEA-001")
@pytest.mark.parametrize("degrees", [100, 101])
def test_water_boils(degrees):
    assert degrees >= 100

@pytest.mark.covers("TEA-001", "TEA-002")
def test_pot_is_warm():
    assert False

@pytest.mark.covers("TEA-003")
def test_milk():
    pytest.skip("no cow")

@pytest.mark.covers("TEA-004")
def test_leaves():
    pass

@pytest.mark.covers("TEA-006")
@pytest.mark.xfail(strict=True, reason="known gap")
def test_sugar():
    assert False

def test_of_nothing_in_particular():
    raise RuntimeError("must not run")
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    """A miniature project: one specification of six requirements, and tests for some."""
    docs, tests = tmp_path / "docs", tmp_path / "tests"
    docs.mkdir()
    tests.mkdir()
    (docs / "tea.md").write_text(TABLE)
    (docs / "not-observable.md").write_text(NOT_OBSERVABLE)
    (tests / "test_tea.py").write_text(TESTS)
    (tests / "conftest.py").write_text("")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    return tmp_path


@pytest.fixture
def report(kitchen: Path) -> Run:
    """Runs the tool on the miniature."""

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tools.conformance", str(kitchen / "tests")]
        return subprocess.run(
            [*command, "--docs", str(kitchen / "docs"), *options],
            cwd=ROOT,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def states(output: str) -> dict[str, str]:
    """The state that a printed report gives to each requirement."""
    rows = [line.split("  ") for line in output.splitlines() if line.startswith("  TEA-")]
    return {row[1]: row[2] for row in rows}


def test_each_requirement_gets_the_state_of_its_tests(report: Run) -> None:
    done = report()

    assert states(done.stdout) == {
        "TEA-001": "failing",
        "TEA-002": "failing",
        "TEA-003": "missing",
        "TEA-004": "shown",
        "TEA-005": "not observable",
        "TEA-006": "failing",
    }
    assert "1 shown, 3 failing, 1 missing, 1 not observable of 6" in done.stdout
    assert done.returncode == 1


def test_tests_are_named_once_each(report: Run) -> None:
    done = report("--only", "TEA-001")

    [line] = [line for line in done.stdout.splitlines() if line.startswith("  TEA-")]
    assert line.endswith("tests/test_tea.py::test_pot_is_warm, tests/test_tea.py::test_water_boils")


def test_collecting_runs_nothing(report: Run) -> None:
    done = report("--collect-only")

    assert states(done.stdout)["TEA-002"] == "has tests"
    assert states(done.stdout)["TEA-005"] == "not observable"
    assert done.returncode == 0


def test_status_page_is_written_when_asked(report: Run, kitchen: Path) -> None:
    report("--write")

    page = (kitchen / "docs" / "STATUS.md").read_text()
    assert "| TEA-004 | shown | `tests/test_tea.py::test_leaves` |" in page
    assert "| Tea brewing | 1 shown, 3 failing, 1 missing, 1 not observable of 6 |" in page


def test_status_page_is_no_source_of_requirements(report: Run, kitchen: Path) -> None:
    before = report("--write", "--collect-only")

    assert "TEA-004" in (kitchen / "docs" / "STATUS.md").read_text()
    assert report("--collect-only").stdout == before.stdout


def test_mark_with_an_unknown_id_is_an_error(report: Run, kitchen: Path) -> None:
    extra = '\n@pytest.mark.covers("TEA-999")\ndef test_more():\n    pass\n'
    (kitchen / "tests" / "test_tea.py").write_text(TESTS + extra)

    done = report("--collect-only")

    assert "test_more covers the unknown requirement TEA-999" in done.stderr
    assert done.returncode == 2


def test_excuse_for_an_unknown_id_is_an_error(report: Run, kitchen: Path) -> None:
    (kitchen / "docs" / "not-observable.md").write_text("| COF-001 | Not tea. |\n")

    done = report("--collect-only")

    assert "not-observable.md names the unknown requirement COF-001" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("options", [(), ("--collect-only",)], ids=["run", "collect"])
def test_tests_that_cannot_be_loaded_are_an_error(
    report: Run, kitchen: Path, options: tuple[str, ...]
) -> None:
    (kitchen / "tests" / "test_broken.py").write_text("import no_such_module\n")

    done = report(*options)

    assert "no_such_module" in done.stderr
    assert states(done.stdout)["TEA-003"] in {"missing", "has tests"}
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], State.MISSING),
        ([Outcome.SKIPPED], State.MISSING),
        ([Outcome.SKIPPED, Outcome.PASSED], State.SHOWN),
        ([Outcome.PASSED, Outcome.FAILED], State.FAILING),
        ([Outcome.NOT_RUN], State.MARKED),
    ],
)
def test_worst_outcome_decides(outcomes: Sequence[Outcome], expected: State) -> None:
    assert conformance.state(outcomes, observable=True) is expected


def test_a_test_outweighs_the_claim_that_none_is_possible() -> None:
    assert conformance.state([Outcome.PASSED], observable=False) is State.SHOWN


def test_id_on_two_pages_is_refused(kitchen: Path) -> None:
    (kitchen / "docs" / "more.md").write_text(TABLE)

    with pytest.raises(ValueError, match="TEA-001"):
        conformance.specifications(kitchen / "docs")


@pytest.mark.parametrize(
    ("prefix", "count"),
    [("CE", 180), ("SQL", 77), ("SUB", 164), ("DIS", 88), ("REG", 326), ("KN", 183)],
)
def test_tables_of_this_project_are_complete(prefix: str, count: int) -> None:
    known = conformance.specifications(ROOT / "docs" / "conformance")

    ids = [name for one in known for name in one.requirements if name.startswith(f"{prefix}-")]
    assert ids == [f"{prefix}-{number:03}" for number in range(1, count + 1)]


def test_marks_of_this_project_name_known_requirements(request: pytest.FixtureRequest) -> None:
    folder = ROOT / "docs" / "conformance"
    known = {name for one in conformance.specifications(folder) for name in one.requirements}

    carried = {name for item in request.session.items for name in conformance.covered(item)}
    assert carried <= known
    assert conformance.reasons(folder).keys() <= known
