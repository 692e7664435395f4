"""What the synchronous and the asynchronous client share in how they reach the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from pyreqwest.client import BaseClientBuilder
from pyreqwest.exceptions import BuilderError, ConnectError, PyreqwestError, RequestTimeoutError
from pyreqwest.http import HeaderMap

import penstock
from penstock.client import address
from penstock.errors import NotFoundError, Problem, ResourceError, StoreError

Builder = TypeVar("Builder", bound=BaseClientBuilder)
_CONNECT_SECONDS = 5.0


def configured(builder: Builder, url: str, timeout: float) -> Builder:
    """Return the builder with everything set that Penstock wants."""
    builder = (
        builder.user_agent(f"penstock/{penstock.__version__}")
        .timeout(timedelta(seconds=timeout))
        .connect_timeout(timedelta(seconds=min(timeout, _CONNECT_SECONDS)))
        # A redirected POST would lose its event; the address is to be corrected instead.
        .follow_redirects(enable=False)
    )
    return builder.no_proxy() if address.is_local(url) else builder


def plain(headers: HeaderMap) -> dict[str, str]:
    """Return the headers of an answer with names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Turn the errors of the HTTP library into ours."""
    try:
        yield
    except ConnectError as exc:
        msg = f"nothing answers at {url}: start the server with `penstock up`, or set PENSTOCK_URL"
        raise NotFoundError(msg, address=url) from exc
    except RequestTimeoutError as exc:
        msg = f"{url} did not answer in time; it may have taken the request nevertheless"
        raise StoreError(msg, address=url) from exc
    except BuilderError as exc:
        raise ResourceError([Problem("url", f"the request cannot be made: {exc}")]) from exc
    except PyreqwestError as exc:
        msg = f"the connection to {url} broke: {exc}"
        raise StoreError(msg, address=url) from exc
