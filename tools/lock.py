"""Refresh requirements.lock from pyproject.toml; `--upgrade` also takes newer versions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEADER = """\
# Every package that Penstock is tested with, for all platforms, with the hashes of its files.
# Made by `make lock` from pyproject.toml; do not edit.
"""

OPTIONS = (
    "--universal",
    "--generate-hashes",
    "--no-header",
    "--no-annotate",
    "--python-version=3.11",
    "--group=dev",
)


def uv(folder: Path) -> str:
    """The uv on this machine, or one for this call only: pip resolves for one platform alone."""
    if found := shutil.which("uv"):
        return found
    venv.create(folder / "uv", with_pip=True)
    python = folder / "uv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
    return str(python.parent / "uv")


def settings() -> dict[str, str]:
    """The environment, with pip's choice of package source told to uv."""
    same = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_FIND_LINKS": "UV_FIND_LINKS"}
    told = {theirs: os.environ[ours] for ours, theirs in same.items() if ours in os.environ}
    return told | dict(os.environ)


def main(arguments: list[str]) -> int:
    lock = ROOT / "requirements.lock"
    with tempfile.TemporaryDirectory() as name:
        fresh = Path(name, "requirements.lock")
        if lock.exists():
            # uv keeps the versions it finds in its output file.
            shutil.copy(lock, fresh)
        command = [uv(Path(name)), "pip", "compile", "--quiet", *OPTIONS, *arguments]
        target = ["--output-file", str(fresh), "pyproject.toml"]
        subprocess.run([*command, *target], cwd=ROOT, env=settings(), check=True)
        lines = fresh.read_text().splitlines(keepends=True)
    # A package index may live anywhere; the lock names packages only.
    kept = [line for line in lines if not line.startswith(("#", "--"))]
    lock.write_text(HEADER + "".join(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
