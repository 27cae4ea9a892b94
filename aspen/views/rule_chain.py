"""Rule chain: the order in which a rule's atoms are joined, outwards from one of them.

Each atom is looked up by as many columns as are known by then; a condition is tested, and a
negated atom asked for, as soon as its columns are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aspen.algebra.block import Block, column_of, input_of, inputs_in
from aspen.algebra.evaluate import compile_expr, compile_predicate, compile_row
from aspen.algebra.expr import Col, Expr, Op, conjunction
from aspen.model.schema import Column, Row, Type
from aspen.views.node import Indices, Key, key_of
from aspen.views.operators.min_ship import SettledIndex
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.rules import Chain, Link

Shape = Callable[[Row], Row | None]
Partners = Callable[[int, Indices], RecursiveInput | SettledIndex]


def chain(rule: Block, start: int, partners: Partners, mark: tuple[int, ...]) -> Chain:
    """Order a rule's atoms from one of them outwards."""
    order = _Order(rule, start)
    last = len(rule.inputs) == 1
    head = _shape(order.known, order.due(), rule.outputs if last else None)
    links: list[Link] = []
    while order.left:
        atom, keyed = order.next()
        indices = tuple(sorted(keyed))
        if rule.inputs[atom].negated:
            # Its own row is its key, and the index has the plan's columns.
            indices = rule.inputs[atom].indices
        key = _key(order.known, [keyed[index] for index in sorted(keyed)])
        order.take(atom, keyed)
        shape = _shape(order.known, order.due(), None if order.left else rule.outputs)
        links.append(Link(atom, partners(atom, indices), key, _pair(shape)))
    return Chain(start, head or _unchanged, tuple(links), mark)


class _Order:
    """What is known, and what is left to join and to test."""

    def __init__(self, rule: Block, start: int) -> None:
        self.rule = rule
        self.left = [number for number in range(len(rule.inputs)) if number != start]
        self.known: tuple[str, ...] = rule.names(start)
        self._bound = {start}
        self._untested: list[Expr] = list(rule.conditions)
        self._equal = list(rule.equalities)
        if rule.inputs[start].negated:
            own = zip(rule.inputs[start].key, self.known, strict=True)
            pairs = [(key, name) for key, name in own]
            self._untested += [Op("=", key, Col(name)) for key, name in pairs]
            self._equal += [(key.name, Col(name)) for key, name in pairs if isinstance(key, Col)]

    def next(self) -> tuple[int, dict[int, Expr]]:
        """Choose the next atom, and give what its columns must equal."""
        best: tuple[int, dict[int, Expr]] | None = None
        for number in self.left:
            atom = self.rule.inputs[number]
            if atom.negated:
                if all(inputs_in(key) <= self._bound for key in atom.key):
                    return number, dict(enumerate(atom.key))
                continue
            keyed: dict[int, Expr] = {}
            for name, other in self._equal:
                if input_of(name) == number and inputs_in(other) <= self._bound:
                    keyed.setdefault(column_of(name)[1], other)
            if best is None or bool(keyed) > bool(best[1]):
                best = (number, keyed)
        assert best is not None
        return best

    def take(self, atom: int, keyed: dict[int, Expr]) -> None:
        """Note that an atom is joined; the equalities it was looked up by hold then."""
        names = self.rule.names(atom)
        for index, other in keyed.items():
            own = Col(names[index])
            self._untested = [
                c for c in self._untested if c not in (Op("=", own, other), Op("=", other, own))
            ]
        self.left.remove(atom)
        self._bound.add(atom)
        self.known += names

    def due(self) -> list[Expr]:
        """Returns the conditions that can be tested now, once each."""
        due = [c for c in self._untested if inputs_in(c) <= self._bound]
        self._untested = [c for c in self._untested if c not in due]
        return due


def _columns(names: tuple[str, ...]) -> list[Column]:
    # Only the names are looked at: the expressions are typed already.
    return [Column(name, Type.INT) for name in names]


def _key(known: tuple[str, ...], exprs: list[Expr]) -> Callable[[Row], Key]:
    indices = [known.index(expr.name) for expr in exprs if isinstance(expr, Col)]
    if len(indices) == len(exprs):
        return key_of(indices)
    if len(exprs) == 1:
        return compile_expr(exprs[0], _columns(known))
    return compile_row(exprs, _columns(known))


def _shape(
    known: tuple[str, ...], conditions: list[Expr], outputs: tuple[Expr, ...] | None
) -> Shape | None:
    """Compose conditions and outputs into one function, None where there is nothing to do."""
    condition = conjunction(conditions)
    columns = _columns(known)
    compute: Callable[[Row], Row] | None = None
    if outputs is not None and outputs != tuple(map(Col, known)):
        compute = compile_row(outputs, columns)
    if condition is None:
        return compute
    test = compile_predicate(condition, columns)
    if compute is None:
        return lambda row: row if test(row) else None
    then = compute
    return lambda row: then(row) if test(row) else None


def _pair(shape: Shape | None) -> Callable[[Row, Row], Row | None]:
    if shape is None:
        return _concatenated
    then = shape
    return lambda row, partner: then(row + partner)


def _concatenated(row: Row, partner: Row) -> Row:
    return row + partner


def _unchanged(row: Any) -> Any:
    return row
