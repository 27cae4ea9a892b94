"""A small database over one lane: tables, views, and queries answered in two ways.

`maintained` registers the query in an empty lane *before* the data come, and feeds it the history;
`once` registers it where the data already are. Both answers come out of the same operators, by
ways that share little: stepping deltas, and building up from contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.errors import AspenError
from aspen.log.entry import Change, Declare, Entry, Register, Transaction, Unregister
from aspen.model.catalog import Catalog
from aspen.model.delta import Delta
from aspen.model.schema import Column, Relation, Row, SourceKind, Type, Value
from aspen.runtime.lane import Lane
from aspen.streamsql.compile import Compiled, compile_statement
from aspen.streamsql.convert import converted
from aspen.streamsql.statement import CHANGING, Statement
from aspen.streamsql.table_change import table_change
from tests.oracle import evaluate
from tests.sqllogic.script import CreateTable, ScriptStatement, Step, asked

_EPOCHS = 8
_LONGEST_REPLAY = 20_000
_ASKED = "asked"


class StatementRefused(AspenError):
    """A statement that contradicts what the database holds."""

    code = "tests.sqllogic.refused"


class Failed(AspenError):
    """A view that the engine could not maintain."""

    code = "tests.sqllogic.failed"


@dataclass(frozen=True, slots=True)
class _Saved:
    """What a transaction goes back to."""

    catalog: Catalog
    views: dict[str, Compiled]
    history: list[Change]


class Database:
    """Tables and views of one script."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.views: dict[str, Compiled] = {}
        self._unique: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._defaults: dict[str, dict[str, Value]] = {}
        self._history: list[Change] = []
        self._begun: _Saved | None = None
        self._lane = Lane()

    def execute(self, statement: ScriptStatement) -> int:
        """Carry a statement out.

        Returns:
            The number of rows it changed.

        Raises:
            AspenError: it cannot be.
        """
        match statement:
            case CreateTable():
                return self._create(statement)
            case Step():
                return self._transact(statement)
        if statement.kind in CHANGING:
            return self._modify(statement)
        if statement.kind == "DROP":
            return self._drop(statement.name, if_exists=bool(statement.tree.args.get("exists")))
        if statement.name:
            return self._create_view(statement)
        self.once(self.compile(statement))
        return 0

    def compile(self, statement: Statement) -> Compiled:
        """Compile a query over the database."""
        return compile_statement(statement, self.catalog)

    def once(self, compiled: Compiled) -> Delta:
        """Answer a query over the rows there are."""
        self.keep(_ASKED, result_plan(compiled))
        rows = self.kept(_ASKED)
        self.forget(_ASKED)
        return rows

    def maintained(self, compiled: Compiled) -> Delta | None:
        """Answer a query by registering it before any row comes; None where that takes too long."""
        if len(self._history) > _LONGEST_REPLAY:
            return None
        lane = Lane()
        _feed(lane, [*self._schema(), Register(0.0, _ASKED, plan_text(result_plan(compiled)))])
        size = max(1, -(-len(self._history) // _EPOCHS))
        for start in range(0, len(self._history), size):
            _feed(lane, [Transaction(0.0, tuple(self._history[start : start + size]))])
        return _rows(lane, _ASKED)

    def keep(self, name: str, plan: Plan) -> None:
        """Begin to maintain a query beside the database's own views."""
        self._feed([Register(0.0, name, plan_text(plan))])

    def kept(self, name: str) -> Delta:
        """Returns the rows of a kept query.

        Raises:
            Failed: the engine could not maintain it.
        """
        return _rows(self._lane, name)

    def forget(self, name: str) -> None:
        """Stop maintaining a kept query."""
        self._feed([Unregister(0.0, name)])

    def from_scratch(self, name: str) -> Delta:
        """Returns what a kept query must hold, by the oracle."""
        closed = self._lane.views.by_name[name].closed
        assert closed is not None
        return evaluate(closed, {relation.name: self._table(relation) for relation in self.catalog})

    def _feed(self, entries: Iterable[Entry]) -> None:
        _feed(self._lane, entries)

    def _table(self, relation: Relation) -> Delta:
        source = self._lane.circuit.sources.get(relation.name)
        return {} if source is None else dict(source.contents())

    def _schema(self) -> Iterator[Entry]:
        for relation in self.catalog:
            if relation.kind is SourceKind.TABLE:
                yield Declare(0.0, relation)
        for name, view in self.views.items():
            yield Register(0.0, name, plan_text(view.plan))

    def _new(self, name: str, *, quietly: bool) -> bool:
        if name not in self.catalog:
            return True
        if quietly:
            return False
        raise StatementRefused(f"{name} exists already", found=name, attempt=f"DROP TABLE {name}")

    def _create(self, statement: CreateTable) -> int:
        relation = statement.relation
        if statement.replace:
            self._drop(relation.name, if_exists=True)
        if not self._new(relation.name, quietly=statement.if_not_exists):
            return 0
        rows: Delta = {}
        if statement.query is not None:
            filled = self.compile(asked(statement.query))
            rows = self.once(filled)
            columns = tuple(_nullable(column) for column in filled.plan.columns)
            relation = Relation(relation.name, columns)
        self.catalog = self.catalog.with_relation(relation)
        self._unique[relation.name] = statement.unique
        self._defaults[relation.name] = {
            name: self._constant(value, relation.columns[relation.index(name)])
            for name, value in statement.defaults
        }
        self._feed([Declare(0.0, relation)])
        return self._change([(relation.name, weight, row) for row, weight in rows.items()])

    def _constant(self, value: exp.Expr, column: Column) -> Value:
        ((made,),) = self.once(self.compile(asked(exp.Select(expressions=[value]))))
        return converted(made, column)

    def _create_view(self, statement: Statement) -> int:
        self._new(statement.name, quietly=False)
        compiled = compile_statement(statement, self.catalog)
        self.keep(statement.name, compiled.plan)
        try:
            self.kept(statement.name)
        except Failed:
            self.forget(statement.name)
            raise
        self.views[statement.name] = compiled
        self.catalog = self.catalog.with_relation(compiled.relation)
        return 0

    def _drop(self, name: str, *, if_exists: bool) -> int:
        if name not in self.catalog:
            if if_exists:
                return 0
            raise StatementRefused(f"there is no {name} to drop", found=name, exists=self._names())
        readers = [view for view, compiled in self.views.items() if name in compiled.sources]
        if readers:
            raise StatementRefused(
                f"view {readers[0]} reads {name}", found=name, attempt="drop it first"
            )
        kept = {other: rel for other, rel in self.catalog.relations.items() if other != name}
        self.catalog = Catalog(kept)
        if self.views.pop(name, None) is not None:
            self.forget(name)
            return 0
        self._history = [change for change in self._history if change.relation != name]
        self._move()
        return 0

    def _move(self) -> None:
        """Move what there is to a new lane: a lane never forgets a relation."""
        self._lane = Lane()
        self._feed(self._schema())
        self._feed([Transaction(0.0, tuple(self._history))])

    def _transact(self, step: Step) -> int:
        if step is Step.BEGIN:
            if self._begun is not None:
                raise StatementRefused(
                    "a transaction has begun already", found="BEGIN", attempt="COMMIT"
                )
            self._begun = _Saved(self.catalog, dict(self.views), list(self._history))
            return 0
        saved, self._begun = self._begun, None
        if saved is None:
            raise StatementRefused("no transaction has begun", found=step.value, attempt="BEGIN")
        if step is Step.ROLLBACK:
            self.catalog, self.views, self._history = saved.catalog, saved.views, saved.history
            self._move()
        return 0

    def _names(self) -> tuple[str, ...]:
        return tuple(relation.name for relation in self.catalog)

    def _target(self, name: str) -> Relation:
        relation = self.catalog.relations.get(name)
        if relation is None or relation.kind is not SourceKind.TABLE:
            raise StatementRefused(f"there is no table {name}", found=name, exists=self._names())
        return relation

    def _modify(self, statement: Statement) -> int:
        relation = self._target(statement.name)
        defaults = self._defaults.get(relation.name)
        change = table_change(statement, relation, self.compile, defaults)
        changes: list[tuple[str, int, Row]] = []
        count = 0
        for row, weight in self.once(change.compiled).items():
            old, new = change.of(row)
            changes += [(relation.name, -weight, old)] if old is not None else []
            changes += [(relation.name, weight, new)] if new is not None else []
            count += weight
        self._change(changes)
        return count

    def _change(self, changes: list[tuple[str, int, Row]]) -> int:
        """Change tables; all of it or nothing."""
        made = [Change(*change) for change in changes]
        self._check_unique(made)
        if made:
            self._history += made
            self._feed([Transaction(0.0, tuple(made))])
        return sum(abs(change.weight) for change in made)

    def _check_unique(self, changes: list[Change]) -> None:
        for table in {change.relation for change in changes}:
            for key in self._unique.get(table, ()):
                relation = self.catalog.get(table)
                places = [relation.index(name) for name in key]
                rows = dict(self._table(relation))
                for change in changes:
                    if change.relation == table:
                        rows[change.row] = rows.get(change.row, 0) + change.weight
                seen: dict[Row, int] = {}
                for row, weight in rows.items():
                    found = tuple(row[place] for place in places)
                    seen[found] = seen.get(found, 0) + weight
                    if seen[found] > 1 and None not in found:
                        raise StatementRefused(
                            f"two rows of {table} would share {', '.join(key)}", found=repr(found)
                        )


def result_plan(compiled: Compiled) -> Plan:
    """Returns the plan of a result, with whatever else its order needs."""
    return compiled.plan if compiled.order is None else compiled.order.plan


def _feed(lane: Lane, entries: Iterable[Entry]) -> None:
    lane.apply(list(enumerate(entries, start=lane.position + 1)))


def _rows(lane: Lane, name: str) -> Delta:
    error = lane.views.by_name[name].error
    if error is not None:
        raise Failed(
            f"{error['code']}: {error['message']}",
            found=str(error.get("found") or ""),
            attempt=str(error.get("try") or ""),
        )
    return lane.rows(name)


def _nullable(column: Column) -> Column:
    return Column(column.name, column.type or Type.TEXT, column.unit, nullable=True)
