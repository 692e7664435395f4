"""Resources and versions of the registry over HTTP: documents, with attributes as headers."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from penstock.api.registry_call import Ask, answer
from penstock.api.registry_headers import proposal, shown
from penstock.registry import Registry, ResourceType, effective, kinds, query
from penstock.registry.entities import Place, Resource, Version, key, segment
from penstock.registry.view import Budget, View

_JSON = "application/json; charset=utf-8"
_MOST_SHOWN = 10_000
"""Beyond so many, a deletion answers without the last states."""


class _Common:
    def __init__(self, registry: Registry, limit: int) -> None:
        self._registry = registry
        self._limit = limit

    def _view(self, ask: Ask) -> View:
        return View(self._registry, ask.base, Budget(self._limit), self._registry.lookup())

    def _body(self, ask: Ask, type_: ResourceType, place: Place, version: Version) -> Response:
        """Return a version as the document it is."""
        address = f"{ask.base}{place.path}/versions/{segment(version.id)}"
        headers = dict(shown(place, type_.singular, version, address))
        if kinds.rules(type_).flat and not version.uri:
            entity = self._view(ask).entity(type_, place.resource, version)
            return Response(msgspec.json.encode(entity), headers={**headers, "content-type": _JSON})
        content = self._registry.content(place, version.id)
        if version.media_type:
            headers["content-type"] = version.media_type
        return Response(content, headers=headers)

    def _redirected(
        self, ask: Ask, found: tuple[Place, ResourceType], version: Version
    ) -> Response:
        place, type_ = found
        response = self._body(ask, type_, place, version)
        if version.uri:
            response.status_code = 307
            response.headers["location"] = version.uri
        return response


class Resources(_Common):
    """Everything at the addresses of resources and their collections."""

    def page(self, ask: Ask) -> Response:
        groups, type_ = ask.types
        self._registry.group(groups, ask.group)
        inline = query.inline(ask.inline, query.below_resource())
        above = key(groups.plural, ask.group)
        page = self._registry.resources(above, type_, *ask.window())
        view = self._view(ask)
        entries = {
            each.id: view.budget.packed(
                view.resource(type_, each, inline, full=self._full(ask, type_))
            )
            for each in page.entities
        }
        total = self._registry.number_of_resources(above, type_) if page.more else 0
        return answer(entries, headers=ask.link(page.more, total) if page.more else None)

    def create(self, ask: Ask) -> Response:
        groups, type_ = ask.types
        given = proposal(ask.call.headers, ask.call.body, type_)
        made = self._registry.create_resource((groups, ask.group), type_, given, ask.terms())
        return self._made(ask, type_, made)

    def show(self, ask: Ask) -> Response:
        place, type_ = ask.place
        found = self._registry.resource(place, type_.singular)
        if "effective" in ask.call.query and kinds.rules(type_).flat:
            return answer(effective.definition(self._registry, found, ask.base))
        if ask.wants_inline:
            inline = query.inline(ask.inline, query.below_resource())
            view = self._view(ask)
            return answer(view.budget.packed(view.resource(type_, found, inline)))
        if ask.wants_meta:
            return answer(self._view(ask).resource(type_, found, full=False))
        return self._redirected(ask, (place, type_), found.latest)

    def update(self, ask: Ask) -> Response:
        place, type_ = ask.place
        if ask.wants_meta:
            made, _ = self._registry.update_version(place, type_, None, ask.document(), ask.terms())
            return answer(self._view(ask).resource(type_, made, full=False))
        given = proposal(ask.call.headers, ask.call.body, type_, ask.epoch)
        made, version = self._registry.update_version(place, type_, None, given, ask.terms())
        return self._body(ask, type_, made.place, version)

    def add_version(self, ask: Ask) -> Response:
        place, type_ = ask.place
        given = proposal(ask.call.headers, ask.call.body, type_, ask.epoch)
        made = self._registry.create_version(place, type_, given, ask.terms())
        return self._made(ask, type_, made)

    def delete(self, ask: Ask) -> Response:
        place, type_ = ask.place
        groups, _ = ask.types
        found = self._registry.resource(place, type_.singular)
        response = self._body(ask, type_, place, found.latest)
        entries = [(place.resource, ask.epoch)]
        self._registry.delete_resources((groups, ask.group), type_, entries)
        return response

    def delete_many(self, ask: Ask) -> Response:
        groups, type_ = ask.types
        gone = self._registry.delete_resources((groups, ask.group), type_, ask.entries())
        if len(gone) > _MOST_SHOWN:
            return Response(status_code=204)
        view = self._view(ask)
        return answer({id_: view.resource(type_, each, full=False) for id_, each in gone.items()})

    def _full(self, ask: Ask, type_: ResourceType) -> bool:
        return ask.wants_inline or bool(kinds.rules(type_).flat)

    def _made(self, ask: Ask, type_: ResourceType, made: Resource) -> Response:
        response = self._body(ask, type_, made.place, made.latest)
        response.status_code = 201
        response.headers["location"] = f"{ask.base}{made.place.path}"
        return response


class Versions(_Common):
    """Everything at the addresses of versions and their collections."""

    def page(self, ask: Ask) -> Response:
        place, type_ = ask.place
        found = self._registry.resource(place, type_.singular)
        page = self._registry.versions(place, *ask.window())
        view = self._view(ask)
        full = ask.wants_inline or bool(kinds.rules(type_).flat)
        entries = {
            each.id: view.budget.packed(view.version(type_, place, each, full=full))
            for each in page.entities
        }
        total = len(found.versions)
        return answer(entries, headers=ask.link(page.more, total) if page.more else None)

    def show(self, ask: Ask) -> Response:
        place, type_ = ask.place
        version = self._registry.version(place, ask.version or "")
        if ask.wants_inline or ask.wants_meta:
            return answer(self._view(ask).version(type_, place, version, full=ask.wants_inline))
        return self._redirected(ask, (place, type_), version)

    def update(self, ask: Ask) -> Response:
        place, type_ = ask.place
        id_, terms = ask.version, ask.terms()
        if ask.wants_meta:
            _, version = self._registry.update_version(place, type_, id_, ask.document(), terms)
            return answer(self._view(ask).version(type_, place, version, full=False))
        given = proposal(ask.call.headers, ask.call.body, type_, ask.epoch)
        _, version = self._registry.update_version(place, type_, id_, given, terms)
        return self._body(ask, type_, place, version)

    def delete(self, ask: Ask) -> Response:
        place, type_ = ask.place
        id_ = ask.version or ""
        response = self._body(ask, type_, place, self._registry.version(place, id_))
        self._registry.delete_versions(place, type_, [(id_, ask.epoch)])
        return response

    def delete_many(self, ask: Ask) -> Response:
        place, type_ = ask.place
        gone = self._registry.delete_versions(place, type_, ask.entries())
        view = self._view(ask)
        return answer(
            {id_: view.version(type_, place, each, full=False) for id_, each in gone.items()}
        )
