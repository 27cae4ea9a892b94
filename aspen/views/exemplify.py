"""Exemplify: values for what a draft leaves open, and the conditions on them as text.

    seat('m12', ?sid, ?kg)    ?kg < 5.0    seat('m12', 's7', 4.0): the sid there is, a kg below

Law:        the rows given pass every check that their values decide.
Algorithm:  own; each open value is taken from what the checks compare it with and from just beside
            that, then from a row like it, then from nowhere; depth first, within a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Col, Const, Expr, parts, substitute
from aspen.model.schema import Column, Row, SchemaError, Type, Value
from aspen.views.drafts import Draft, SearchState
from aspen.views.repair import Edit, Open, Repair
from aspen.views.unify import Check, Store, Term, Var

_TRIES = 2_000
_FRESH = 900_001
"""A number no building reaches by counting."""


def examples(state: SearchState) -> Iterator[Store]:
    """Returns a draft's store with values for what it leaves open, likely ones first."""
    store = state.store
    hints: dict[Var, Value] = {}
    for draft in state.drafts:
        for index, term in enumerate(draft.after or ()):
            value = store.walk(term)
            if isinstance(value, Var) and draft.hint is not None:
                hints.setdefault(value, draft.hint[index])
    return _filled(store, list(_opened(state.drafts, store)), hints, [_TRIES])


def repair_of(state: SearchState, filled: Store, kept: Iterable[int]) -> Repair:
    """Returns some of a draft's edits, the others having turned out needless.

    Args:
        filled: its store with values for all it leaves open.
        kept: indices of the edits.
    """
    store = state.store
    drafts = [state.drafts[index] for index in kept]
    names = _names(list(_opened(drafts, store)))
    conditions = [_condition(check, store, names) for check in store.checks]
    return Repair(
        tuple(_edit(draft, store, filled, names) for draft in drafts),
        tuple(dict.fromkeys(text for text in conditions if text)),
    )


def _opened(drafts: Iterable[Draft], store: Store) -> dict[Var, None]:
    rows = [store.row(draft.after) for draft in drafts if draft.after is not None]
    return dict.fromkeys(term for row in rows for term in row if isinstance(term, Var))


def _filled(
    store: Store, opened: list[Var], hints: dict[Var, Value], tries: list[int]
) -> Iterator[Store]:
    still = [var for var in opened if isinstance(store.walk(var), Var)]
    if not still:
        yield store
        return
    var = store.walk(still[0])
    assert isinstance(var, Var)
    for value in _pool(var, store, hints, len(still)):
        tries[0] -= 1
        if tries[0] < 0:
            return
        trial = store.fork()
        if trial.same(var, value) and trial.settle():
            yield from _filled(trial, still[1:], hints, tries)


def _pool(var: Var, store: Store, hints: dict[Var, Value], serial: int) -> list[Value]:
    column = var.column
    values: list[Value] = [hints[var]] if var in hints else []
    for check in store.checks:
        if any(store.walk(check.terms[index]) is var for index in check.used):
            values += _compared(check, store)
    numeric = column.type.numeric
    near: list[Value] = []
    for value in values:
        near.append(value)
        if numeric and isinstance(value, int | float) and not isinstance(value, bool):
            near += [value - 1, value + 1]
    near += _ordinary(column, serial)
    if column.nullable:
        near.append(None)
    # By spelling: 1 and True are equal but not the same.
    return list({repr(fit): fit for value in near for fit in _fitting(column, value)}.values())


def _fitting(column: Column, value: Value) -> list[Value]:
    """Returns a value as the column would hold it, or none."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and column.type is Type.FLOAT:
        return [float(value)]  # type: ignore[arg-type]
    try:
        column.check(value)
    except SchemaError:
        return []
    return [column.kept(value)]


def _compared(check: Check, store: Store) -> list[Value]:
    """Returns the constants of a check, written and known."""
    values: list[Value] = [] if check.expr is None else list(_constants(check.expr))
    terms: list[Term] = [store.walk(check.terms[index]) for index in check.used]
    terms.append(store.walk(check.out))
    return values + [term for term in terms if not isinstance(term, Var)]


def _constants(expr: Expr) -> Iterator[Value]:
    if isinstance(expr, Const):
        yield expr.value
    for part in parts(expr):
        yield from _constants(part)


def _ordinary(column: Column, serial: int) -> list[Value]:
    match column.type:
        case Type.BOOL:
            return [True, False]
        case Type.TEXT:
            return [f"any-{serial}"]
        case kind if kind.is_time:
            return [column.kept(f"2026-01-01 12:{serial // 60 % 60:02}:{serial % 60:02}")]
        case _:
            return [_FRESH + serial, 0, 1]


def _names(opened: list[Var]) -> dict[Var, str]:
    """Name each open value after its column, the second of a name with a number."""
    names: dict[Var, str] = {}
    taken: set[str] = set()
    for var in opened:
        stem = name = var.column.name.split(".")[-1]
        number = 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        taken.add(name)
        names[var] = name
    return names


def _condition(check: Check, store: Store, names: dict[Var, str]) -> str:
    """Spell a check on open values; empty where it says nothing of them alone."""
    if check.expr is None:
        return ""
    values: dict[str, Expr] = {}
    for index in check.used:
        term = store.walk(check.terms[index])
        if not isinstance(term, Var):
            values[check.columns[index].name] = Const(term)
        elif term in names:
            values[check.columns[index].name] = Col(names[term])
        else:
            return ""
    text = expr_text(substitute(check.expr, values))
    if check.out is True:
        return text
    out = store.walk(check.out)
    if isinstance(out, Var):
        return f"{text} = {names[out]}" if out in names else ""
    return f"{text} = {expr_text(Const(out))}"


def _edit(draft: Draft, store: Store, filled: Store, names: dict[Var, str]) -> Edit:
    after: tuple[Value | Open, ...] | None = None
    example: Row | None = None
    if draft.after is not None:
        shown = store.row(draft.after)
        after = tuple(Open(names[term]) if isinstance(term, Var) else term for term in shown)
        values = filled.row(draft.after)
        example = tuple(None if isinstance(value, Var) else value for value in values)
    return Edit(draft.relation.name, draft.before, after, example)
