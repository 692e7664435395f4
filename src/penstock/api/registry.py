"""The Registry Service over HTTP: the registry itself, its model, and its groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from penstock.api import problems
from penstock.api.registry_call import LEVELS, ROOT, Ask, answer, names
from penstock.api.registry_resources import Resources, Versions
from penstock.api.resource import Call, Resource, reply
from penstock.control import Control
from penstock.errors import NotFoundError, UnsupportedError
from penstock.registry import GroupType, Registry, document, effective, importing, kinds, query
from penstock.registry.entities import Group, segment
from penstock.registry.references import Missing
from penstock.registry.view import Budget, View

_DOCUMENT_BYTES = 4 << 20
# Objects of YAML take about ten times its bytes in memory, so less of it is printed at once.
_YAML_SHARE = 8


def routes(control: Control) -> Sequence[Route]:
    """Return the routes of the registry: one application finds its own way below the prefix."""
    found = _Paths(control)
    return (Route(ROOT, found), Route(f"{ROOT}/{{rest:path}}", found))


class _Paths:
    """Knows the methods at each depth below the registry."""

    def __init__(self, control: Control) -> None:
        limit = control.limits.registry_bytes
        registry = control.registry
        whole, groups = _Whole(registry, limit), _Groups(registry, limit)
        resources, versions = Resources(registry, limit), Versions(registry, limit)

        def resource(most: int, **handlers: Callable[[Ask], Response]) -> Resource:
            wrapped = {name: _asked(one, registry) for name, one in handlers.items()}
            return Resource(control.url, most=most, **wrapped)

        small, large = _DOCUMENT_BYTES, max(limit, _DOCUMENT_BYTES)
        self._model = resource(small, GET=whole.model, PUT=whole.change_model)
        self._levels = (
            resource(large, GET=whole.show, POST=whole.bring),
            resource(large, GET=groups.page, POST=groups.create, DELETE=groups.delete_many),
            resource(small, GET=groups.show, PUT=groups.update, DELETE=groups.delete),
            resource(
                small, GET=resources.page, POST=resources.create, DELETE=resources.delete_many
            ),
            resource(
                small,
                GET=resources.show,
                PUT=resources.update,
                POST=resources.add_version,
                DELETE=resources.delete,
            ),
            resource(small, GET=versions.page, DELETE=versions.delete_many),
            resource(small, GET=versions.show, PUT=versions.update, DELETE=versions.delete),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = names(scope.get("raw_path") or scope["path"].encode())
        target: Resource | Response
        if found == ("model",):
            target = self._model
        elif len(found) < len(self._levels) and "" not in found:
            scope["path_params"] = dict(zip(LEVELS, found, strict=False))
            target = self._levels[len(found)]
        else:
            target = reply(problems.plain(404, f"there is nothing at {scope['path']}"))
        await target(scope, receive, send)


def _asked(handler: Callable[[Ask], Response], registry: Registry) -> Callable[[Call], Response]:
    def asked(call: Call) -> Response:
        return handler(Ask(call, registry))

    return asked


class _Whole:
    def __init__(self, registry: Registry, limit: int) -> None:
        self._registry = registry
        self._limit = limit

    def show(self, ask: Ask) -> Response:
        wanted = _accepted(ask.call.headers.get("accept", ""))
        if "resolve" in ask.call.query:
            return self._resolve(ask, ask.call.query["resolve"])
        if wanted is not None:
            return self._file(wanted)
        model = self._registry.model()
        inline = query.inline(ask.inline, query.below_registry(model))
        view = View(self._registry, ask.base, Budget(self._limit), self._registry.lookup())
        shown = view.registry(self._registry.identity(), model, inline)
        if "model" in ask.call.query:
            shown["model"] = model.document()
        return answer(shown)

    def model(self, _ask: Ask) -> Response:
        return answer(self._registry.model().document())

    def change_model(self, ask: Ask) -> Response:
        return answer(self._registry.change_model(ask.value()).document())

    def bring(self, ask: Ask) -> Response:
        stated = ask.call.headers.get("content-type", document.JSON)
        found = document.parse(ask.call.body, stated)
        flags = ask.call.query
        outcome = importing.bring(
            self._registry,
            found,
            ask.terms("lenient"),
            replace="replace" in flags,
            rehearse="dryrun" in flags,
        )
        return answer(outcome.document())

    def _file(self, media_type: str) -> Response:
        limit = self._limit // (_YAML_SHARE if media_type == document.YAML else 1)
        exported = document.export(self._registry, self._registry.identity(), limit)
        body = document.printed(exported, media_type)
        return Response(body, headers={"content-type": media_type})

    def _resolve(self, ask: Ask, reference: str) -> Response:
        try:
            target = self._registry.lookup().find(reference, ask.base)
        except Missing as exc:
            message = f"{reference!r} leads nowhere: {exc}"
            raise NotFoundError(message, address=reference) from exc
        if target is None:
            message = f"{reference!r} leads out of this registry, which follows no such links"
            raise UnsupportedError(message, what=reference)
        shown = {"kind": target.kind, "address": target.address, "value": target.value}
        return answer({**shown, **({"record": target.record} if target.record else {})})


class _Groups:
    def __init__(self, registry: Registry, limit: int) -> None:
        self._registry = registry
        self._limit = limit

    def page(self, ask: Ask) -> Response:
        type_ = ask.group_type
        inline = query.inline(ask.inline, query.below_group(type_))
        after, limit = ask.window()
        page = self._registry.groups(type_, after, limit)
        view = self._view(ask)
        shown = {
            each.id: view.budget.packed(view.group(type_, each, inline)) for each in page.entities
        }
        total = self._registry.number_of_groups(type_)
        return answer(shown, headers=ask.link(page.more, total) if page.more else None)

    def show(self, ask: Ask) -> Response:
        type_ = ask.group_type
        found = self._registry.group(type_, ask.group)
        if "effective" in ask.call.query and kinds.is_endpoint(type_):
            return answer(effective.endpoint(self._registry, found, ask.base))
        inline = query.inline(ask.inline, query.below_group(type_))
        view = self._view(ask)
        return answer(view.budget.packed(view.group(type_, found, inline)))

    def create(self, ask: Ask) -> Response:
        type_ = ask.group_type
        made = self._registry.create_group(type_, ask.value(), ask.terms())
        address = f"{ask.base}/{segment(type_.plural)}/{segment(made.id)}"
        return answer(self._view(ask).group(type_, made), 201, {"location": address})

    def update(self, ask: Ask) -> Response:
        type_ = ask.group_type
        made = self._registry.update_group(type_, ask.group, ask.document(), ask.terms())
        return answer(self._view(ask).group(type_, made))

    def delete(self, ask: Ask) -> Response:
        type_ = ask.group_type
        view = self._view(ask)
        shown = view.group(type_, self._registry.group(type_, ask.group))
        gone = self._registry.delete_groups(type_, [(ask.group, ask.epoch)])
        return answer({**shown, "epoch": gone[ask.group].epoch})

    def delete_many(self, ask: Ask) -> Response:
        type_ = ask.group_type
        entries, view = ask.entries(), self._view(ask)
        last = {each.id: view.group(type_, each) for each in self._chosen(type_, entries)}
        gone = self._registry.delete_groups(type_, entries)
        return answer({id_: last.get(id_) or view.group(type_, each) for id_, each in gone.items()})

    def _chosen(
        self, type_: GroupType, entries: Sequence[tuple[str, int | None]] | None
    ) -> Iterator[Group]:
        if entries is None:
            yield from self._registry.all_groups(type_)
        for id_, _ in entries or ():
            yield self._registry.group(type_, id_)

    def _view(self, ask: Ask) -> View:
        return View(self._registry, ask.base, Budget(self._limit), self._registry.lookup())


def _accepted(accept: str) -> str | None:
    """Return the kind of file that a client wants, None where it wants the API's own JSON."""
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        name, *parameters = (each.strip() for each in part.split(";"))
        quality = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        weights[name] = float(quality) if quality.replace(".", "", 1).isdecimal() else 0.0
    best = max((document.JSON, document.YAML), key=lambda each: weights.get(each, 0.0))
    plain = max(weights.get("application/json", 0.0), 0.0)
    return best if weights.get(best, 0.0) > plain else None
