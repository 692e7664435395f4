"""Say which requirements of docs/conformance the tests show: `make conformance`."""

from __future__ import annotations

import argparse
import contextlib
import enum
import io
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PAGES_WITHOUT_REQUIREMENTS = {"README.md", "STATUS.md", "not-observable.md"}
REQUIREMENT = re.compile(r"\| ([A-Z]+-\d{3}) \| ([^|]+) \| (.+) \|")
REASON = re.compile(r"\| ([A-Z]+-\d{3}) \| (.+) \|")
ENDED_EARLY = {
    pytest.ExitCode.INTERRUPTED,
    pytest.ExitCode.INTERNAL_ERROR,
    pytest.ExitCode.USAGE_ERROR,
}


class State(enum.StrEnum):
    """What the tests say of one requirement."""

    SHOWN = "shown"
    FAILING = "failing"
    MISSING = "missing"
    NOT_OBSERVABLE = "not observable"
    MARKED = "has tests"  # the only thing known when nothing was run


class Outcome(enum.StrEnum):
    """What one test came to."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Specification:
    """One page of docs/conformance: its title and its requirements, id to text."""

    title: str
    requirements: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One requirement in the report."""

    id: str
    state: State
    tests: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)  # pytest keeps its plugins in sets
class Recorder:
    """A pytest plugin that runs only the tests with `covers` marks and keeps their outcomes."""

    marks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "covers(*ids): requirements that the test shows")

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        for item in items:
            if ids := covered(item):
                self.marks[item.nodeid] = ids
                self.outcomes[item.nodeid] = Outcome.NOT_RUN
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid not in self.marks])
        items[:] = [item for item in items if item.nodeid in self.marks]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid} cannot be loaded\n{report.longreprtext}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or hasattr(report, "wasxfail"):
            self.outcomes[report.nodeid] = Outcome.FAILED
        elif report.skipped:
            self.outcomes[report.nodeid] = Outcome.SKIPPED
        elif report.when == "call":
            self.outcomes[report.nodeid] = Outcome.PASSED

    def by_requirement(self) -> Mapping[str, Mapping[str, Outcome]]:
        """Each id that some test carries, with the outcome of each of those tests."""
        found: dict[str, dict[str, Outcome]] = defaultdict(dict)
        for test, ids in self.marks.items():
            for requirement in ids:
                found[requirement][test] = self.outcomes[test]
        return found


def covered(item: pytest.Item) -> tuple[str, ...]:
    """The requirement ids that a test carries."""
    return tuple(str(name) for mark in item.iter_markers("covers") for name in mark.args)


def specifications(folder: Path) -> tuple[Specification, ...]:
    """The requirement tables of a folder; an id that occurs twice is refused."""
    pages = [p for p in sorted(folder.glob("*.md")) if p.name not in PAGES_WITHOUT_REQUIREMENTS]
    found = tuple(specification(page.read_text(encoding="utf-8")) for page in pages)
    counts = Counter(name for one in found for name in one.requirements)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"on two pages: {', '.join(twice)}")
    return tuple(one for one in found if one.requirements)


def specification(page: str) -> Specification:
    title = page.partition("\n")[0].removeprefix("# ").removesuffix(": requirements")
    rows = [match for line in page.splitlines() if (match := REQUIREMENT.fullmatch(line))]
    names = [row[1] for row in rows]
    if len(names) != len(set(names)):
        raise ValueError(f"{title}: an id occurs twice")
    return Specification(title, {row[1]: row[3] for row in rows})


def reasons(folder: Path) -> Mapping[str, str]:
    """The requirements that no test can show, each with the reason."""
    page = folder / "not-observable.md"
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    return {match[1]: match[2] for line in lines if (match := REASON.fullmatch(line))}


def state(outcomes: Sequence[Outcome], *, observable: bool) -> State:
    """What these outcomes say of the requirement that their tests carry."""
    if Outcome.FAILED in outcomes:
        return State.FAILING
    if Outcome.PASSED in outcomes:
        return State.SHOWN
    if Outcome.NOT_RUN in outcomes:
        return State.MARKED
    return State.MISSING if observable else State.NOT_OBSERVABLE


def lines(
    one: Specification,
    tests: Mapping[str, Mapping[str, Outcome]],
    unseen: Mapping[str, str],
) -> tuple[Line, ...]:
    return tuple(
        Line(
            name,
            state(list(tests.get(name, {}).values()), observable=name not in unseen),
            # The cases of a parametrized test count as one test.
            tuple(sorted({test.partition("[")[0] for test in tests.get(name, ())})),
        )
        for name in one.requirements
    )


def totals(report: Sequence[Line]) -> str:
    """For instance "3 shown, 1 missing of 4"."""
    counts = Counter(line.state for line in report)
    parts = [f"{counts[state]} {state}" for state in State if counts[state]]
    return f"{', '.join(parts)} of {len(report)}"


def as_text(reports: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    width = max(len(state) for state in State)
    for title, report in reports.items():
        yield f"\n{title}"
        for line in report:
            yield f"  {line.id}  {line.state:{width}}  {', '.join(line.tests)}".rstrip()
    yield "\nTotals"
    for title, report in reports.items():
        yield f"  {title}: {totals(report)}"


def as_page(reports: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    yield "# Conformance status"
    yield "\nWritten by `make conformance ARGS=--write`; do not edit.\n"
    yield "| specification | state |\n|---|---|"
    for title, report in reports.items():
        yield f"| {title} | {totals(report)} |"
    for title, report in reports.items():
        yield f"\n## {title}\n\n| id | state | tests |\n|---|---|---|"
        for line in report:
            yield f"| {line.id} | {line.state} | {' '.join(f'`{test}`' for test in line.tests)} |"


def run_tests(recorder: Recorder, options: argparse.Namespace) -> None:
    arguments = [*options.tests, "-q", "--no-header", "--continue-on-collection-errors"]
    output = io.StringIO()
    if not options.collect_only:
        end = pytest.main([*arguments, "--tb=short"], [recorder])
    else:
        with contextlib.redirect_stdout(output):
            end = pytest.main([*arguments, "--collect-only"], [recorder])
    if end in ENDED_EARLY:
        recorder.broken.append(f"{output.getvalue()}pytest ended early: {end!r}")


def complaints(
    known: Sequence[Specification], recorder: Recorder, unseen: Mapping[str, str]
) -> Iterator[str]:
    """Why the report cannot be trusted: tests that do not load, ids that no page has."""
    yield from recorder.broken
    ids = {name for one in known for name in one.requirements}
    for name in sorted(unseen.keys() - ids):
        yield f"not-observable.md names the unknown requirement {name}"
    for test, carried in recorder.marks.items():
        for name in sorted(set(carried) - ids):
            yield f"{test} covers the unknown requirement {name}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.conformance", description=__doc__)
    parser.add_argument("tests", nargs="*", default=["tests"], help="test files or folders")
    parser.add_argument("--docs", type=Path, default=Path("docs/conformance"))
    parser.add_argument("--collect-only", action="store_true", help="run nothing")
    parser.add_argument("--write", action="store_true", help="also write STATUS.md")
    parser.add_argument("--only", metavar="PREFIX", default="", help="for instance CE or KN-1")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; 1 when a requirement fails, 2 when the report cannot be trusted."""
    options = parse(arguments)
    known, unseen, recorder = specifications(options.docs), reasons(options.docs), Recorder()
    run_tests(recorder, options)
    tests = recorder.by_requirement()
    reports = {one.title: lines(one, tests, unseen) for one in known}
    print(*as_text(selected(reports, options.only)), sep="\n")
    if options.write:
        page = "\n".join(as_page(reports)) + "\n"
        (options.docs / "STATUS.md").write_text(page, encoding="utf-8")
    wrong = tuple(complaints(known, recorder, unseen))
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    failing = any(line.state is State.FAILING for report in reports.values() for line in report)
    return 2 if wrong else int(failing)


def selected(reports: Mapping[str, Sequence[Line]], prefix: str) -> Mapping[str, Sequence[Line]]:
    chosen = {
        title: [line for line in report if line.id.startswith(prefix)]
        for title, report in reports.items()
    }
    return {title: report for title, report in chosen.items() if report}


if __name__ == "__main__":
    sys.exit(main())
