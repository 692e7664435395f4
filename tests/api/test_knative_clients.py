"""Clients that nobody here wrote: kubectl, and the Python client of Kubernetes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.served import Served
from tests.knative.cluster import a_cluster

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

pytestmark = pytest.mark.network

MANIFEST = """
apiVersion: eventing.knative.dev/v1
kind: Broker
metadata:
  name: shop
spec:
  delivery: {retry: 5, backoffPolicy: exponential, backoffDelay: PT0.5S}
---
apiVersion: v1
kind: Service
metadata: {name: orders}
spec:
  type: ExternalName
  externalName: localhost
  ports: [{port: 9000}]
---
apiVersion: eventing.knative.dev/v1
kind: Trigger
metadata:
  name: orders
spec:
  broker: shop
  filter: {attributes: {type: com.example.order}}
  subscriber:
    ref: {apiVersion: v1, kind: Service, name: orders}
---
apiVersion: eventing.knative.dev/v1
kind: Trigger
metadata:
  name: audit
spec:
  broker: shop
  subscriber: {uri: "http://audit.example/"}
---
apiVersion: messaging.knative.dev/v1
kind: Channel
metadata: {name: work}
---
apiVersion: messaging.knative.dev/v1
kind: Subscription
metadata: {name: worker}
spec:
  channel: {apiVersion: messaging.knative.dev/v1, kind: Channel, name: work}
  subscriber: {uri: "http://worker.example/"}
  reply:
    ref: {apiVersion: eventing.knative.dev/v1, kind: Broker, name: shop}
"""


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl, in one namespace of a server."""

    server: str
    namespace: str
    folder: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        # Neither the settings nor the cache of whoever runs the tests.
        home = {"HOME": str(self.folder), "KUBECONFIG": str(self.folder / "none")}
        return subprocess.Popen(
            ["kubectl", f"--server={self.server}", f"--namespace={self.namespace}", *arguments],
            env=os.environ | home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def fails(self, *arguments: str) -> str:
        """Run a command that is refused; return what it complains of."""
        with self.start(*arguments) as process:
            _, complaint = process.communicate(timeout=30)
        assert process.returncode != 0
        return complaint

    def __call__(self, *arguments: str, given: str = "") -> str:
        with self.start(*arguments) as process:
            out, complaint = process.communicate(given, timeout=30)
        assert process.returncode == 0, complaint
        return out


@pytest.fixture
def kubectl(served: Served, needs: Callable[[str, bool], None], tmp_path: Path) -> Kubectl:
    needs("kubectl", shutil.which("kubectl") is not None)
    return Kubectl(f"http://127.0.0.1:{served.port}", a_cluster(served).namespace, tmp_path)


@pytest.fixture
def applied(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", given=MANIFEST)
    return kubectl


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def test_kubectl_applies_manifests_and_finds_them_unchanged(kubectl: Kubectl) -> None:
    first = kubectl("apply", "-f", "-", given=MANIFEST)
    second = kubectl("apply", "-f", "-", given=MANIFEST)
    third = kubectl("apply", "-f", "-", given=MANIFEST.replace("retry: 5", "retry: 6"))

    assert [row[1] for row in rows(first)] == ["created"] * 6
    assert [row[1] for row in rows(second)] == ["unchanged"] * 6
    assert [row[1] for row in rows(third)] == ["configured", *["unchanged"] * 5]


def test_kubectl_refuses_a_manifest_with_an_unknown_field(kubectl: Kubectl, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(MANIFEST.replace("reply:", "answer:"))

    complaint = kubectl.fails("apply", "-f", str(file))

    assert "answer" in complaint


def test_kubectl_shows_columns(applied: Kubectl) -> None:
    head, *found = rows(applied("get", "triggers"))
    brokers = rows(applied("get", "brokers"))

    assert head == ["NAME", "BROKER", "SUBSCRIBER_URI", "READY", "REASON", "AGE"]
    assert [row[:4] for row in found] == [
        ["audit", "shop", "http://audit.example/", "True"],
        ["orders", "shop", f"http://orders.{applied.namespace}.svc/", "True"],
    ]
    assert brokers[1][1].endswith(f"/brokers/{applied.namespace}/shop")


def test_kubectl_describes_and_waits(applied: Kubectl) -> None:
    described = applied("describe", "trigger", "orders")
    waited = applied(
        "wait",
        "--for=condition=Ready",
        "--timeout=10s",
        "broker/shop",
        "trigger/orders",
        "channel/work",
        "subscriptions.messaging.knative.dev/worker",
    )

    assert "SubscriberResolved" in described
    assert waited.count("condition met") == 4


def test_kubectl_patches_and_labels(applied: Kubectl) -> None:
    change = '{"spec":{"filter":{"attributes":{"type":"x"}}}}'
    applied("patch", "trigger", "orders", "--type=merge", "-p", change)
    applied("label", "trigger", "orders", "team=a")
    refused = applied.fails(
        "patch", "trigger", "orders", "--type=merge", "-p", '{"spec":{"broker":"other"}}'
    )

    found = applied("get", "triggers", "-l", "team=a", "-o", "jsonpath={.items[*].spec.filter}")
    assert "x" in found
    assert "spec.broker" in refused
    assert "immutable" in refused


def test_kubectl_watches(applied: Kubectl) -> None:
    with applied.start("get", "triggers", "-w", "-o", "name") as process:
        assert process.stdout is not None
        first = [process.stdout.readline().strip() for _ in range(2)]
        applied("label", "trigger", "orders", "team=a")
        after = process.stdout.readline().strip()
        process.terminate()

    assert first == ["trigger.eventing.knative.dev/audit", "trigger.eventing.knative.dev/orders"]
    assert after == "trigger.eventing.knative.dev/orders"


def test_kubectl_applies_on_the_server(applied: Kubectl, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(MANIFEST.replace("retry: 5", "retry: 9"))
    applied("patch", "broker", "shop", "--type=merge", "-p", '{"spec":{"delivery":{"retry":7}}}')

    complaint = applied.fails("apply", "--server-side", "-f", str(file))
    forced = applied("apply", "--server-side", "--force-conflicts", "-f", str(file))

    assert ".spec.delivery.retry" in complaint
    assert forced.count("serverside-applied") == 6
    shown = applied("get", "broker", "shop", "-o", "jsonpath={.spec.delivery.retry}")
    assert shown == "9"


def test_kubectl_deletes(applied: Kubectl) -> None:
    gone = applied("delete", "-f", "-", given=MANIFEST)

    assert gone.count("deleted") == 6
    assert applied("get", "brokers,triggers,channels", "-o", "name") == ""


def test_kubectl_explains(kubectl: Kubectl) -> None:
    found = kubectl("explain", "trigger.spec.delivery")

    assert "backoffPolicy" in found
    assert "How waits grow." in found


def test_kubectl_creates_core_objects_and_runs_dry(kubectl: Kubectl) -> None:
    other = f"{kubectl.namespace}-other"
    made = [
        kubectl("create", "namespace", other),
        kubectl("create", "configmap", "m", "--from-literal=a=b"),
        kubectl("create", "service", "externalname", "s", "--external-name=x", "--tcp=80:9000"),
    ]
    dry = kubectl("apply", "--dry-run=server", "-f", "-", given=MANIFEST)

    assert [text.split()[1] for text in made] == ["created"] * 3
    assert kubectl("get", "configmap", "m", "-o", "jsonpath={.data}") == '{"a":"b"}'
    port = kubectl("get", "service", "s", "-o", "jsonpath={.spec.ports[0].targetPort}")
    assert port == "9000"
    assert dry.count("(server dry run)") == 6
    assert kubectl("get", "brokers", "-o", "name") == ""


@pytest.fixture
def python(served: Served) -> Iterator[ApiClient]:
    from kubernetes import client

    configuration = client.Configuration()
    configuration.host = f"http://127.0.0.1:{served.port}"
    with client.ApiClient(configuration) as made:
        yield made


def resource(python: ApiClient, kind: str) -> Any:  # noqa: ANN401 - the client has no types
    from kubernetes import dynamic

    client = dynamic.DynamicClient(python)  # type: ignore[no-untyped-call]
    return client.resources.get(api_version="eventing.knative.dev/v1", kind=kind)


def test_python_client_creates_changes_watches_and_deletes(
    served: Served, python: ApiClient
) -> None:
    space = a_cluster(served).namespace
    triggers = resource(python, "Trigger")
    spec = {"broker": "b", "subscriber": {"uri": "http://one.example/"}}
    head = {"apiVersion": "eventing.knative.dev/v1", "kind": "Trigger"}
    document = {**head, "metadata": {"name": "t"}, "spec": spec}

    triggers.create(body=document, namespace=space)
    merge = "application/merge-patch+json"
    labels = {"metadata": {"labels": {"a": "b"}}}
    triggers.patch(body=labels, name="t", namespace=space, content_type=merge)
    events = triggers.watch(namespace=space, timeout=20)
    first = next(events)
    triggers.delete(name="t", namespace=space)
    second = next(events)
    events.close()

    assert (first["type"], second["type"]) == ("ADDED", "DELETED")
    assert first["object"].metadata.labels.a == "b"


def test_python_client_applies_on_the_server(served: Served, python: ApiClient) -> None:
    from kubernetes.dynamic.exceptions import ConflictError

    space = a_cluster(served).namespace
    brokers = resource(python, "Broker")
    head = {"apiVersion": "eventing.knative.dev/v1", "kind": "Broker", "metadata": {"name": "b"}}

    def apply(retry: int, manager: str, **options: bool) -> object:
        body = {**head, "spec": {"delivery": {"retry": retry}}}
        return brokers.server_side_apply(
            body=body, name="b", namespace=space, field_manager=manager, **options
        )

    apply(1, "one")
    with pytest.raises(ConflictError, match="conflict"):
        apply(2, "two")
    apply(3, "two", force_conflicts=True)

    assert brokers.get(name="b", namespace=space).spec.delivery.retry == 3


def test_python_client_sees_why_an_object_is_refused(served: Served, python: ApiClient) -> None:
    from kubernetes import client

    space = a_cluster(served).namespace
    objects = client.CustomObjectsApi(python)
    wrong = {"apiVersion": "eventing.knative.dev/v1", "kind": "Trigger", "metadata": {"name": "t"}}

    with pytest.raises(client.ApiException) as refusal:
        objects.create_namespaced_custom_object(
            "eventing.knative.dev", "v1", space, "triggers", {**wrong, "spec": {}}
        )

    assert refusal.value.status == 422
    assert "spec.subscriber" in str(refusal.value.body)
    namespaces: Any = client.CoreV1Api(python).list_namespace()
    assert namespaces.items[0].status.phase == "Active"
