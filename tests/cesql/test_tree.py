from __future__ import annotations

from penstock.cesql.tree import Attribute, Binary, Call, In, Literal, Node, Not, fold, rebuilt

A, B = Attribute("a"), Attribute("b")


def test_fold_visits_parts_first_and_from_left_to_right() -> None:
    seen: list[Node] = []
    tree = Binary("AND", Not(A), In(B, (Literal(1), Literal(2))))

    fold(tree, lambda node, _: seen.append(node))

    assert seen == [A, Not(A), B, Literal(1), Literal(2), tree.right, tree]


def test_fold_passes_each_node_what_became_of_its_parts() -> None:
    tree = Call("F", (A, Call("G", ()), Not(B)))

    assert fold(tree, lambda _, parts: 1 + sum(parts)) == 5


def test_fold_takes_chains_longer_than_python_recurses() -> None:
    tree: Node = A
    for _ in range(50_000):
        tree = Binary("+", tree, A)

    assert fold(tree, lambda _, parts: 1 + sum(parts)) == 100_001


def test_rebuilt_node_keeps_all_but_its_parts() -> None:
    node = In(A, (A, A), negated=True, start=3, end=9)

    new = rebuilt(node, [B, B, A])

    assert new == In(B, (B, A), negated=True)
    assert (new.start, new.end) == (3, 9)
