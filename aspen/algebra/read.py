"""Text → plan: the reader of what `aspen.algebra.explain` prints."""

from __future__ import annotations

import json
import re
from typing import Any

from aspen.algebra.expr import Const, Expr
from aspen.algebra.plan import (
    Aggregate,
    AggregateFunction,
    AntiJoin,
    Apply,
    ApplyKind,
    Best,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    PlanError,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    SetFunction,
    SetOperation,
    Ship,
    SortKey,
    TopK,
    Union,
    Values,
    Window,
    WindowBounds,
)
from aspen.algebra.read_expr import Words, read_expr
from aspen.errors import Position
from aspen.model.schema import Column, SchemaError, Type

_INPUTS = {
    "Scan": 0,
    "Values": 0,
    "RecursiveRef": 0,
    "Join": 2,
    "Apply": 2,
    "AntiJoin": 2,
    "OuterJoin": 2,
    "MarkJoin": 2,
    "Except": 2,
    "Intersect": 2,
    "Window": 1,
    "Filter": 1,
    "Project": 1,
    "Distinct": 1,
    "TopK": 1,
    "GroupBy": 1,
    "Ship": 1,
}
_MANY = ("Union", "Fixpoint")
_INDENT = re.compile(r"( *)(.*)")


def read_plan(text: str) -> Plan:
    """Read a plan.

    Args:
        text: as `plan_text` prints it; blank lines and lines beginning with `#` are skipped.

    Raises:
        PlanTextError: the text is no plan; the position says where.
        PlanError: a node names a column its input lacks.
    """
    lines: list[tuple[int, Words]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _INDENT.match(line)
        spaces = len(found.group(1)) if found else 0
        words = Words(line, number)
        if spaces % 2:
            raise words.error("inputs stand two spaces further in than their node")
        lines.append((spaces // 2, words))
    if not lines:
        raise Words("", 1).error("an empty text is no plan")
    plan, after = _subtree(lines, 0)
    if after < len(lines):
        raise lines[after][1].error("a plan has one root")
    return plan


def _subtree(lines: list[tuple[int, Words]], index: int) -> tuple[Plan, int]:
    depth, words = lines[index]
    inputs: list[Plan] = []
    after = index + 1
    while after < len(lines) and lines[after][0] > depth:
        if lines[after][0] != depth + 1:
            raise lines[after][1].error("inputs stand two spaces further in than their node")
        child, after = _subtree(lines, after)
        inputs.append(child)
    kind = words.name()
    if kind not in _INPUTS and kind not in _MANY:
        words.back()
        raise words.error("no such plan node", exists=(*_INPUTS, *_MANY))
    if kind == "Union" and not inputs:
        raise words.error("a Union has inputs", found="0")
    if kind in _INPUTS and len(inputs) != _INPUTS[kind]:
        raise words.error(f"{kind} has {_INPUTS[kind]} input(s)", found=str(len(inputs)))
    try:
        node = _node(kind, words, inputs)
    except (PlanError, SchemaError) as error:
        if error.position is None:
            error.position = Position(words.line, 2 * depth + 1, len(kind))
        raise
    words.end()
    return node, after


def _node(kind: str, words: Words, inputs: list[Plan]) -> Plan:
    match kind:
        case "Scan":
            name, alias, columns = _source(words)
            static = words.take("static")
            return Scan(name, alias, columns, not static, words.take("stream"))
        case "Values":
            return _values(words)
        case "Except" | "Intersect":
            return SetOperation(inputs[0], inputs[1], SetFunction(kind), words.take("all"))
        case "TopK":
            return _top_k(words, inputs[0])
        case "RecursiveRef":
            return RecursiveRef(*_source(words))
        case "Window":
            return _window(words, inputs[0])
        case "Filter":
            return Filter(inputs[0], read_expr(words))
        case "Project":
            return Project(inputs[0], _outputs(words))
        case "Join":
            return Join(inputs[0], inputs[1], *_matching(words))
        case "Apply":
            return _apply(words, inputs[0], inputs[1])
        case "AntiJoin":
            return AntiJoin(inputs[0], inputs[1], *_matching(words))
        case "OuterJoin":
            return OuterJoin(inputs[0], inputs[1], *_matching(words))
        case "MarkJoin":
            words.expect("give")
            return MarkJoin(inputs[0], inputs[1], _column(words), *_matching(words))
        case "Union":
            return Union(tuple(inputs))
        case "Distinct":
            return Distinct(inputs[0])
        case "GroupBy":
            return _group(words, inputs[0])
        case "Fixpoint":
            return _fixpoint(words, inputs)
        case _:
            source = words.name()
            words.expect("->")
            return Ship(inputs[0], source, words.name())


def _source(words: Words) -> tuple[str, str, tuple[Column, ...]]:
    name = words.name()
    words.expect("as")
    return name, words.name(), _columns(words)


def _columns(words: Words) -> tuple[Column, ...]:
    words.expect("(")
    columns: list[Column] = []
    while not words.take(")"):
        if columns:
            words.expect(",")
        columns.append(_column(words))
    return tuple(columns)


def _column(words: Words) -> Column:
    name = words.name()
    spelling = words.name()
    if spelling not in Type.__members__:
        words.back()
        raise words.error("no such type", exists=tuple(Type.__members__))
    unit = ""
    if words.kind == "unit":
        inside = words.next()[1:-1]
        unit = json.loads(inside) if inside.startswith('"') else inside
    return Column(name, Type[spelling], unit, words.take("?"))


def _values(words: Words) -> Values:
    demand = words.take("demand")
    columns = _columns(words)
    rows: list[tuple[Const, ...]] = []
    while words.kind != "end":
        if rows:
            words.expect(",")
        words.expect("(")
        row: list[Const] = []
        while not words.take(")"):
            if row:
                words.expect(",")
            value = read_expr(words)
            if not isinstance(value, Const):
                raise words.error("Values holds constants")
            row.append(value)
        rows.append(tuple(row))
    return Values(columns, tuple(rows), demand)


def _top_k(words: Words, child: Plan) -> TopK:
    per = _names(words) if words.take("per") else ()
    keys: list[SortKey] = []
    if words.take("by"):
        while not keys or words.take(","):
            column = words.name()
            descending = words.take("desc")
            last = words.take("nulls")
            if last:
                words.expect("last")
            keys.append(SortKey(column, descending, last))
    limit = int(words.number()) if words.take("limit") else None
    offset = int(words.number()) if words.take("offset") else 0
    return TopK(child, tuple(keys), limit, offset, per)


def _window(words: Words, child: Plan) -> Window:
    by = _names(words) if words.take("by") else ()
    taken = (words.take(name.removesuffix("_s")) for name in WindowBounds._fields)
    bounds: list[Any] = [words.number() if found else None for found in taken]
    return Window(child, by, *bounds)


def _names(words: Words) -> tuple[str, ...]:
    names = [words.name()]
    while words.take(","):
        names.append(words.name())
    return tuple(names)


def _outputs(words: Words) -> tuple[tuple[Column, Expr], ...]:
    outputs: list[tuple[Column, Expr]] = []
    while words.kind != "end":
        if outputs:
            words.expect(",")
        column = _column(words)
        words.expect("=")
        outputs.append((column, read_expr(words)))
    return tuple(outputs)


def _matching(words: Words) -> tuple[tuple[tuple[str, str], ...], Expr | None]:
    pairs: list[tuple[str, str]] = []
    if words.take("on"):
        while not pairs or words.take(","):
            left = words.name()
            words.expect("=")
            pairs.append((left, words.name()))
    return tuple(pairs), read_expr(words) if words.take("where") else None


def _function(words: Words) -> AggregateFunction:
    spelling = words.name()
    if spelling not in AggregateFunction.__members__:
        words.back()
        raise words.error("no such aggregate", exists=tuple(AggregateFunction.__members__))
    return AggregateFunction[spelling]


def _apply(words: Words, left: Plan, right: Plan) -> Apply:
    kinds = {kind.value: kind for kind in ApplyKind}
    spelling = words.name()
    if spelling not in kinds:
        words.back()
        raise words.error("no such kind of Apply", exists=tuple(kinds))
    return Apply(left, right, kinds[spelling], None if words.kind == "end" else _column(words))


def _group(words: Words, child: Plan) -> GroupBy:
    keys = _names(words) if words.take("by") else ()
    aggregates: list[Aggregate] = []
    if words.take("give"):
        while not aggregates or words.take(","):
            output = _column(words)
            words.expect("=")
            function = _function(words)
            words.expect("(")
            distinct = (
                words.peek() == "DISTINCT" and words.peek(1) != ")" and words.take("DISTINCT")
            )
            argument = None if words.take("*") else words.name()
            words.expect(")")
            aggregates.append(Aggregate(function, argument, output, distinct))
    return GroupBy(child, keys, tuple(aggregates))


def _fixpoint(words: Words, inputs: list[Plan]) -> Fixpoint:
    relations: list[Recursive] = []
    while not relations or words.take("with"):
        name, columns = words.name(), _columns(words)
        best = _best(words) if words.take("keep") else None
        if len(inputs) < 2 * len(relations) + 2:
            raise words.error("each relation of a Fixpoint has 2 inputs", found=str(len(inputs)))
        base, step = inputs[2 * len(relations) :][:2]
        relations.append(Recursive(name, columns, base, step, best))
    if len(inputs) != 2 * len(relations):
        raise words.error("each relation of a Fixpoint has 2 inputs", found=str(len(inputs)))
    first = relations[0]
    own = (first.name, first.columns, first.base, first.step, first.best)
    most = int(words.number()) if words.take("most") else None
    return Fixpoint(*own, tuple(relations[1:]), most)


def _best(words: Words) -> Best:
    choices: list[tuple[str, AggregateFunction]] = []
    while not choices or words.take(","):
        function = _function(words)
        choices.append((words.name(), function))
    keys = _names(words) if words.take("by") else ()
    return Best(keys, *choices[0], tuple(choices[1:]))
