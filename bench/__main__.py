"""Run the measurements, print one table, and keep the results with the machine they came from."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import time
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.rig import Row

NAMES = ("parse", "ingest", "latency", "drain", "fanout", "matching", "cesql", "registry")
RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Measure what was asked for; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], help="which ones; all if none")
    options = parser.parse_args()
    chosen = options.names or list(NAMES)
    found: dict[str, list[Row]] = {}
    for name in chosen:
        print(f"measuring {name} ...", flush=True)
        found[name] = importlib.import_module(f"bench.{name}").measure()
    Console(width=150).print(table(found))
    keep(found)
    return int(any(row.met is False for rows in found.values() for row in rows))


def table(found: dict[str, list[Row]]) -> Table:
    """Return the rows as a table for people."""
    drawn = Table("measured", "value", "baseline", "ratio", "goal", "", title="Penstock bench")
    for rows in found.values():
        for row in rows:
            drawn.add_row(
                row.name,
                f"{_shown(row.value)} {row.unit}",
                "" if row.baseline is None else _shown(row.baseline),
                "" if row.ratio is None else f"{row.ratio:.2f}",
                row.goal,
                {True: "met", False: "MISSED", None: ""}[row.met],
            )
    return drawn


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"  # noqa: PLR2004


def keep(found: dict[str, list[Row]]) -> None:
    """Write the last run of each part to results/last.json, and as text beside it."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "last.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    known |= {name: _part(rows) for name, rows in found.items()}
    path.write_text(json.dumps(known, indent=2) + "\n")
    with (RESULTS / "last.txt").open("w") as file:
        rows = {name: [Row(**row) for row in part["rows"]] for name, part in known.items()}
        Console(file=file, width=150).print(table(rows))


def _part(rows: list[Row]) -> dict[str, object]:
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_over_five_minutes": os.getloadavg()[1],
        "rows": [asdict(row) for row in rows],
    }


if __name__ == "__main__":
    raise SystemExit(main())
