"""`penstock up` and the two processes that it starts."""

from __future__ import annotations

import typer

from penstock.cli.flags import Config, settings


def up(config: Config = None, **given: object) -> None:
    """Start the server and run it until it is stopped.

    Every option is also a key of the file given with --config, and an environment variable:
    PENSTOCK_ and the name in capitals, such as PENSTOCK_PORT.
    An option wins over the environment, and the environment over the file.
    """
    chosen = settings(given, config)

    from penstock.processes import supervise

    raise typer.Exit(supervise(chosen))


def serve_api() -> None:
    """Be the API process of `penstock up`."""
    from penstock.processes import api_main

    api_main()


def serve_pipeline() -> None:
    """Be the pipeline process of `penstock up`."""
    from penstock.processes import pipeline_main

    pipeline_main()
