"""Predicates looked up: what a body may read, with how many arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from aspen.algebra.functions import FUNCTIONS
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SourceKind
from aspen.overlog.errors import (
    NameTaken,
    StreamWithoutLifetime,
    UnknownPredicate,
    UnsupportedRule,
    WrongPredicateArity,
)
from aspen.overlog.syntax import (
    Atom,
    Condition,
    Head,
    HeadAggregate,
    Materialize,
    OverlogRule,
    Program,
)
from aspen.streamsql.dialect import StreamWindow
from aspen.streamsql.errors import nearest, suggestion
from aspen.streamsql.positions import placed
from aspen.streamsql.tree import column_of


@dataclass(frozen=True, slots=True)
class Resolved:
    """A program whose every predicate exists.

    Args:
        rules: by the predicate they derive, in the order of the text.
        columns: names of the columns of each head predicate.
        windows: how much of each stream counts.
        most: where `materialize` says how many rows a head predicate may have.
    """

    rules: Mapping[str, tuple[OverlogRule, ...]]
    columns: Mapping[str, tuple[str, ...]]
    windows: Mapping[str, StreamWindow]
    most: Mapping[str, Materialize]


def resolve(program: Program, catalog: Catalog) -> Resolved:
    """Look every predicate of a program up.

    Raises:
        NameTaken, UnknownPredicate, WrongArity, StreamWithoutLifetime: as their names say.
    """
    heads: dict[str, Head] = {}
    for rule in program.rules:
        _check_head(rule.head, heads.setdefault(rule.head.predicate, rule.head), catalog)
    most = {one.predicate: _limited(one) for one in program.streams if one.predicate in heads}
    windows = {
        one.predicate: _window(one, catalog)
        for one in program.streams
        if one.predicate not in heads
    }
    rules: dict[str, tuple[OverlogRule, ...]] = dict.fromkeys(heads, ())
    for rule in program.rules:
        checked = _body(rule, heads, catalog)
        for atom in checked.atoms:
            _check_atom(atom, heads, catalog, windows)
        rules[rule.head.predicate] += (checked,)
    columns = {name: _columns([rule.head for rule in rules[name]]) for name in rules}
    return Resolved(rules, columns, windows, most)


def _check_head(head: Head, first: Head, catalog: Catalog) -> None:
    if head.predicate in catalog:
        raise NameTaken(
            f"{head.predicate} is a relation or view already; a rule cannot add to it",
            position=head.at,
            found=head.predicate,
            attempt="derive a predicate of another name that reads it",
        )
    if len(head.arguments) != len(first.arguments):
        raise _arity(head.predicate, len(head.arguments), len(first.arguments), head)


def _body(rule: OverlogRule, heads: Mapping[str, Head], catalog: Catalog) -> OverlogRule:
    """Take functions that are true or not out of the predicates they were read as."""
    atoms: list[Atom] = []
    conditions = list(rule.conditions)
    for atom in rule.atoms:
        name = atom.predicate
        if name in FUNCTIONS and name not in heads and name not in catalog:
            call = exp.Anonymous(this=name, expressions=list(atom.arguments))
            test = placed(exp.Not(this=call) if atom.negated else call, atom.at)
            conditions.append(Condition(test, atom.at))
        else:
            atoms.append(atom)
    if not any(not atom.negated for atom in atoms):
        raise UnsupportedRule(
            "a rule whose body has no predicate has no rows to begin with",
            position=rule.head.at,
            found=rule.head.predicate,
            attempt="read a table in the body",
        )
    return replace(rule, atoms=tuple(atoms), conditions=tuple(conditions))


def _check_atom(
    atom: Atom, heads: Mapping[str, Head], catalog: Catalog, windows: Mapping[str, StreamWindow]
) -> None:
    name = atom.predicate
    if name in heads:
        if len(atom.arguments) != len(heads[name].arguments):
            raise _arity(name, len(atom.arguments), len(heads[name].arguments), atom)
        return
    if name not in catalog:
        names = (*heads, *catalog.relations)
        raise UnknownPredicate(
            f"there is no relation, view or rule {name!r}",
            position=atom.at,
            found=name,
            exists=nearest(name, names),
            attempt=suggestion(name, names) or "see the schema browser for the names",
        )
    relation = catalog.get(name)
    if len(atom.arguments) != len(relation.columns):
        raise _arity(name, len(atom.arguments), len(relation.columns), atom, relation)
    if relation.kind is SourceKind.STREAM and name not in windows:
        raise StreamWithoutLifetime(
            f"stream {name!r} never ends: say how much of it counts",
            position=atom.at,
            found=name,
            exists=(
                f"materialize({name}, 30, infinity).",
                f"materialize({name}, 30, infinity, keys(1)).",
            ),
            attempt="seconds a row stays, newest rows kept, perhaps columns to keep one row per",
        )


def _arity(
    name: str, found: int, wanted: int, at: Head | Atom, relation: Relation | None = None
) -> WrongPredicateArity:
    return WrongPredicateArity(
        f"{name} has {wanted} argument(s), not {found}",
        position=at.at,
        found=str(found),
        exists=relation.names if relation is not None else (str(wanted),),
        attempt="write _ for an argument that does not matter" if found < wanted else "",
    )


def _limited(found: Materialize) -> Materialize:
    """Check that only the number of rows of a head predicate is limited."""
    if found.lifetime_s is not None or found.keys or found.rows is None:
        raise UnsupportedRule(
            f"{found.predicate} is derived: its rows stay while what they rest on does",
            position=found.at,
            found=found.predicate,
            attempt=f"materialize({found.predicate}, infinity, 1000). limits how many it may have",
        )
    return found


def _window(found: Materialize, catalog: Catalog) -> StreamWindow:
    name = found.predicate
    relation = catalog.relations.get(name)
    if relation is None or relation.kind is not SourceKind.STREAM:
        raise UnsupportedRule(
            f"{name!r} is no stream: its rows stay until they are deleted",
            position=found.at,
            found=name,
            exists=[r.name for r in catalog if r.kind is SourceKind.STREAM],
            attempt="leave materialize out",
        )
    outside = [key for key in found.keys if not 1 <= key <= len(relation.columns)]
    if outside:
        raise WrongPredicateArity(
            f"{name} has no column {outside[0]}",
            position=found.at,
            found=str(outside[0]),
            exists=[f"{i} ({column})" for i, column in enumerate(relation.names, start=1)],
        )
    if found.keys and found.rows is not None:
        raise UnsupportedRule(
            "keys keep one row per key; a number of rows beside them has no meaning here",
            position=found.at,
            found=str(found.rows),
            exists=("infinity",),
            attempt=f"materialize({name}, {found.lifetime_s or 'infinity'}, infinity, keys(…)).",
        )
    if not found.keys and found.rows is None and found.lifetime_s is None:
        raise StreamWithoutLifetime(
            f"{name!r} would be kept for ever",
            position=found.at,
            found="infinity, infinity",
            attempt=f"materialize({name}, 30, infinity).",
        )
    by = [column_of("", relation.names[key - 1], found.at) for key in found.keys]
    rows = 1 if found.keys else found.rows
    window = StreamWindow(partition_by=by, rows=rows, range_s=found.lifetime_s)
    return placed(window, found.at)


def _columns(heads: list[Head]) -> tuple[str, ...]:
    """Name a predicate's columns after the variables of its heads."""
    names: list[str] = []
    for index, arguments in enumerate(zip(*(head.arguments for head in heads), strict=True)):
        spoken = (_spoken(argument) for argument in arguments)
        name = next(filter(None, spoken), f"column_{index + 1}")
        number = 2
        chosen = name
        while chosen in names:
            chosen = f"{name}_{number}"
            number += 1
        names.append(chosen)
    return tuple(names)


def _spoken(argument: exp.Expr | HeadAggregate) -> str:
    match argument:
        case exp.Column():
            return _snake(argument.name)
        case HeadAggregate(function, exp.Column(name=name)):
            return f"{function}_{_snake(name)}"
        case HeadAggregate(function):
            return function
        case _:
            return ""


def _snake(variable: str) -> str:
    """Spell a variable as a column: `StepFree` is `step_free`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", variable.strip("_")).lower()
