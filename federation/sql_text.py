"""StreamSQL of a plan: what each site runs, in the language of the query it comes from.

    Project l.rid, t.celsius                  SELECT l.rid, t.celsius
      Join on l.rid = t.rid             →     FROM light_reading [PARTITION BY sid ROWS 1] l,
        Filter l.lux < 10.0                     temperature_reading [PARTITION BY sid ROWS 1] t
          Window by l.sid rows 1 …            WHERE l.lux < 10.0 AND l.rid = t.rid

Law: compiled again, the text has the rows of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from aspen.algebra.expr import (
    Call,
    Case,
    Col,
    Const,
    Expr,
    IsNull,
    Not,
    Op,
    Outer,
    conjuncts,
    substitute,
)
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    NotFlat,
    Plan,
    Project,
    Scan,
    Ship,
    Union,
    Window,
)
from aspen.algebra.renaming import bare_names
from aspen.algebra.text import PRECEDENCE
from aspen.errors import AspenError
from aspen.model.schema import Column


class NoText(AspenError, code="federation.no_text"):
    """A plan with a node that this printer has no words for; its plan text says it."""


@dataclass(frozen=True)
class _Block:
    """One SELECT in the making.

    Args:
        columns: what each column of the plan is, over the sources' columns.
    """

    sources: tuple[str, ...]
    columns: Mapping[str, Expr]
    where: tuple[str, ...] = ()


def sql_text(plan: Plan) -> str:
    """Write a plan as StreamSQL; without a line break at the end.

    Raises:
        NoText: a recursion, an outer join, a set operation or an order.
    """
    return _QueryWriter().select(plan)


@dataclass
class _QueryWriter:
    """Writes one query."""

    taken: set[str] = field(default_factory=set)

    def select(self, plan: Plan) -> str:
        match plan:
            case Ship(child):
                return self.select(child)
            case Distinct(child):
                return self.select(child).replace("SELECT ", "SELECT DISTINCT ", 1)
            case Union(inputs):
                return "\nUNION ALL\n".join(self.select(one) for one in inputs)
            case GroupBy():
                return self._grouped(plan, {c.name: c.name for c in plan.columns}, plan.columns)
            case Project(GroupBy() as inner, made) if _only_picks(plan):
                chosen = {c.name: value.name for c, value in made if isinstance(value, Col)}
                return self._grouped(inner, chosen, plan.columns)
        block = self._block(plan)
        values = [block.columns[column.name] for column in plan.columns]
        outputs = _outputs(plan.columns, [_sql(value) for value in values], values)
        return _written(outputs, block)

    def _grouped(
        self, node: GroupBy, chosen: Mapping[str, str], columns: tuple[Column, ...]
    ) -> str:
        block = self._block(node.child)
        made = {key: _sql(block.columns[key]) for key in node.keys}
        by = list(made.values())
        for one in node.aggregates:
            argument = "*" if one.argument is None else _sql(block.columns[one.argument])
            distinct = "DISTINCT " if one.distinct else ""
            made[one.output.name] = f"{one.function.value}({distinct}{argument})"
        texts = [made[chosen[column.name]] for column in columns]
        text = _written(_outputs(columns, texts, [None] * len(texts)), block)
        return f"{text}\nGROUP BY {', '.join(by)}" if by else text

    def _block(self, plan: Plan) -> _Block:
        match plan:
            case Scan() | Window(Scan()):
                return self._source(plan)
            case Ship(child):
                return self._block(child)
            case Window(Filter(child, predicate)) if plan.bounds.by_time_alone:
                # Selections pass a window of time; in the text they stand above it.
                return self._block(Filter(replace(plan, child=child), predicate))
            case Filter(child, predicate):
                below = self._block(child)
                own = tuple(_sql(substitute(p, below.columns), "AND") for p in conjuncts(predicate))
                return replace(below, where=(*below.where, *own))
            case Project(child, outputs) if not (isinstance(child, GroupBy) and _only_picks(plan)):
                below = self._block(child)
                made = {c.name: substitute(value, below.columns) for c, value in outputs}
                return replace(below, columns=made)
            case Join():
                left, right = self._block(plan.left), self._block(plan.right)
                columns = {**left.columns, **right.columns}
                where = (*left.where, *right.where, *_conditions(plan, columns))
                return _Block((*left.sources, *right.sources), columns, where)
            case AntiJoin():
                left, right = self._block(plan.left), self._block(plan.right)
                inside = (*right.where, *_conditions(plan, {**left.columns, **right.columns}))
                condition = f" WHERE {' AND '.join(inside)}" if inside else ""
                sources = ", ".join(right.sources)
                absent = f"NOT EXISTS (SELECT 1 FROM {sources}{condition})"  # noqa: S608  # printed
                return replace(left, where=(*left.where, absent))
            case GroupBy() | Project() | Distinct() | Union():
                return self._derived(plan)
            case _:
                raise NoText(f"no words for {type(plan).__name__}")

    def _source(self, plan: Scan | Window) -> _Block:
        scan = plan if isinstance(plan, Scan) else plan.child
        assert isinstance(scan, Scan)
        alias = self._alias(scan.alias)
        columns: dict[str, Expr] = {
            column.name: Col(f"{alias}.{_bare(column.name)}") for column in scan.columns
        }
        window = f" {_window(plan)}" if isinstance(plan, Window) else ""
        name = "" if alias == scan.relation else f" {alias}"
        return _Block((f"{scan.relation}{window}{name}",), columns)

    def _derived(self, plan: Plan) -> _Block:
        alias = self._alias("d1")
        inner = _QueryWriter(self.taken).select(plan).replace("\n", " ")
        names = bare_names(plan.columns)
        columns: dict[str, Expr] = {
            column.name: Col(f"{alias}.{name}")
            for column, name in zip(plan.columns, names, strict=True)
        }
        return _Block((f"({inner}) {alias}",), columns)

    def _alias(self, wanted: str) -> str:
        stem = wanted.rpartition(".")[2].rstrip("0123456789") or "d"
        alias, number = wanted.rpartition(".")[2], 1
        while alias in self.taken:
            number += 1
            alias = f"{stem}{number}"
        self.taken.add(alias)
        return alias


def _only_picks(plan: Project) -> bool:
    """Whether a projection computes nothing, and so needs no SELECT of its own over a group."""
    return all(isinstance(value, Col) for _, value in plan.outputs)


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


def _outputs(
    columns: tuple[Column, ...], texts: list[str], values: Sequence[Expr | None]
) -> list[str]:
    found = []
    for name, text, value in zip(bare_names(columns), texts, values, strict=True):
        same = isinstance(value, Col) and _bare(value.name) == name
        found.append(text if same or text == name else f"{text} AS {name}")
    return found


def _written(outputs: list[str], block: _Block) -> str:
    where = f"\nWHERE {' AND '.join(block.where)}" if block.where else ""
    return f"SELECT {', '.join(outputs) or '1'}\nFROM {', '.join(block.sources)}{where}"


def _conditions(node: Join | AntiJoin, columns: Mapping[str, Expr]) -> list[str]:
    pairs = [Op("=", columns[one], columns[other]) for one, other in node.on]
    rest = [] if node.residual is None else [substitute(node.residual, columns)]
    return [_sql(one, "AND") for whole in [*pairs, *rest] for one in conjuncts(whole)]


def _window(node: Window) -> str:
    words = []
    if node.partition_by:
        words.append(f"PARTITION BY {', '.join(map(_bare, node.partition_by))}")
    for word, amount, seconds in node.bounds.words:
        words.append(f"{word.upper()} {amount:g}{' SECONDS' if seconds else ''}")
    if node.on is not None:
        words.append(f"ON {_bare(node.on)}")
    return f"[{' '.join(words)}]"


def _sql(expr: Expr, above: str = "") -> str:
    """Write an expression with the parentheses its position needs."""
    match expr:
        case Col(name):
            return name
        case Outer():
            raise NotFlat
        case Const(value):
            return _constant(value)
        case Op(symbol, left, right):
            text = f"{_sql(left, symbol)} {symbol} {_sql(right, symbol)}"
            chained = symbol == above and symbol in ("AND", "OR")
            loose = above and PRECEDENCE[symbol] <= PRECEDENCE[above] and not chained
            return f"({text})" if loose else text
        case Not(inner):
            return f"NOT ({_sql(inner)})"
        case IsNull(inner):
            return f"({_sql(inner)}) IS NULL"
        case Call(function, arguments):
            return f"{function}({', '.join(_sql(one) for one in arguments)})"
        case Case(branches, otherwise):
            whens = "".join(f"WHEN {_sql(c)} THEN {_sql(v)} " for c, v in branches)
            return f"CASE {whens}ELSE {_sql(otherwise)} END"


def _constant(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return repr(value)
