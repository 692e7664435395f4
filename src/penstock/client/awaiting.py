"""The asynchronous client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from pyreqwest.client import ClientBuilder

from penstock.client import address, calls, catalogue, subscribing, transport
from penstock.client import registry as registries
from penstock.client.answer import Answer
from penstock.client.call import Call, Page

P = ParamSpec("P")
T = TypeVar("T")


def _sent(
    make: Callable[P, Call[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @wraps(make)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(make(*args, **kwargs))

    return method


def _paged(
    make: Callable[P, Call[Page[T]]],
) -> Callable[Concatenate[AsyncClient, P], AsyncIterator[T]]:
    @wraps(make)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        following: Call[Page[T]] | None = make(*args, **kwargs)
        while following is not None:
            page = await self.send(following)
            for item in page.items:
                yield item
            following = page.following

    return method


class AsyncClient:
    """A client of a Penstock server for asyncio; `async with` closes its connections."""

    def __init__(self, url: str | None = None, *, timeout: float = 30.0) -> None:
        self.url = address.base(url)
        self._client = transport.configured(ClientBuilder(), self.url, timeout).build()

    async def send(self, call: Call[T]) -> T:
        """Make a call and return what its answer means."""
        with transport.translated(self.url):
            request = self._client.request(call.method, self.url + call.path).headers(call.headers)
            got = await request.body_bytes(call.body).build().send()
            answer = Answer(got.status, transport.plain(got.headers), bytes(await got.bytes()))
        return call.read(answer, self.url)

    publish = _sent(calls.publish)
    publish_batch = _sent(calls.publish_batch)
    subscribe = subscribing.awaiting
    create_subscription = _sent(calls.create_subscription)
    subscription = _sent(calls.subscription)
    subscriptions = _paged(calls.subscriptions)
    update_subscription = _sent(calls.update_subscription)
    patch_subscription = _sent(calls.patch_subscription)
    delete_subscription = _sent(calls.delete_subscription)
    pause_subscription = _sent(calls.pause_subscription)
    resume_subscription = _sent(calls.resume_subscription)
    subscription_status = _sent(calls.subscription_status)
    services = _sent(catalogue.services)
    service = _sent(catalogue.service)
    service_named = _sent(catalogue.service_named)
    create_service = _sent(catalogue.create_service)
    update_service = _sent(catalogue.update_service)
    delete_service = _sent(catalogue.delete_service)
    registry = _sent(registries.registry)
    registry_model = _sent(registries.registry_model)
    change_registry_model = _sent(registries.change_registry_model)
    registry_entities = _paged(registries.registry_entities)
    registry_entity = _sent(registries.registry_entity)
    registry_effective = _sent(registries.registry_effective)
    registry_document = _sent(registries.registry_document)
    create_registry_group = _sent(registries.create_registry_group)
    update_registry_group = _sent(registries.update_registry_group)
    create_registry_resource = _sent(registries.create_registry_resource)
    add_registry_version = _sent(registries.add_registry_version)
    update_registry_version = _sent(registries.update_registry_version)
    delete_registry_entity = _sent(registries.delete_registry_entity)
    import_registry = _sent(registries.import_registry)
    export_registry = _sent(registries.export_registry)
    validate = _sent(registries.validate)
    validate_batch = _sent(registries.validate_batch)
    dead_letters = _paged(calls.dead_letters)
    dead_letter = _sent(calls.dead_letter)
    retry_dead_letters = _sent(calls.retry_dead_letters)
    delete_dead_letter = _sent(calls.delete_dead_letter)
    readiness = _sent(calls.readiness)

    async def close(self) -> None:
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
