"""Table change: what INSERT, DELETE and UPDATE ask, and what each row of the answer changes.

    INSERT INTO t (a, b) query     query                             row of the answer → +row
    DELETE FROM t WHERE p          SELECT t.* FROM t WHERE p         → −row
    UPDATE t SET a = e WHERE p     SELECT t.*, e FROM t WHERE p      → −row +row with a filled

Everything that changes tables reads its statements here: scripts, tables that people declare, and
changes that are only supposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aspen.algebra.plan import Values
from aspen.errors import AspenError
from aspen.model.schema import Relation, Row, Value
from aspen.streamsql.ast import Item, Name, NamedSource, Select, SelectQuery, Star
from aspen.streamsql.compile import Compiled
from aspen.streamsql.convert import converted
from aspen.streamsql.script_ast import Delete, Insert, Update

Modification = Insert | Delete | Update


class WrongWidth(AspenError, code="aspen.bind.wrong_width"):
    """More or fewer values than columns to fill."""


@dataclass(frozen=True, slots=True)
class TableChange:
    """A statement that changes a table, ready to be asked.

    Args:
        compiled: the question; but for INSERT, its rows begin with the row as it stands.
        filled: indexes of the columns that the rest of its rows fills.
        others: of INSERT, what the columns hold that it does not fill.
    """

    relation: Relation
    compiled: Compiled
    filled: tuple[int, ...]
    others: Row | None = None

    @property
    def constant(self) -> bool:
        """Whether the answer is in the question: INSERT … VALUES."""
        return isinstance(self.compiled.plan, Values)

    def of(self, row: Row) -> tuple[Row | None, Row | None]:
        """Returns the rows that leave and enter the table because of one row of the answer.

        Raises:
            BadValue: a value that its column cannot hold.
            SchemaError: NULL where none may be.
        """
        width = 0 if self.others is not None else len(self.relation.columns)
        old = row[:width] if self.others is None else None
        if old is not None and not self.filled:
            return old, None
        values: list[Value] = list(self.others if old is None else old)  # type: ignore[arg-type]
        for index, value in zip(self.filled, row[width:], strict=True):
            values[index] = converted(value, self.relation.columns[index])
        self.relation.check(tuple(values))
        return old, tuple(values)


def table_change(
    statement: Modification,
    relation: Relation,
    compiled: Callable[[Select], Compiled],
    defaults: Mapping[str, Value] | None = None,
) -> TableChange:
    """Compile a statement over the table it names.

    Args:
        compiled: compiles a question, in the catalog and with the rights of whoever changes.
        defaults: by column, what INSERT fills it with when it does not name it; NULL otherwise.

    Raises:
        WrongWidth: an INSERT of more or fewer values than columns.
        AspenError: a name, type or value that is wrong.
    """
    if isinstance(statement, Insert):
        return _insertion(statement, relation, compiled, defaults or {})
    items = [Item(Name(relation.name, name)) for name in relation.names] or [Item(Star(""))]
    assigned = statement.values if isinstance(statement, Update) else ()
    filled = tuple(relation.index(name) for name, _ in assigned)
    items += [Item(value, f"set_{number}") for number, (_, value) in enumerate(assigned)]
    source = NamedSource(relation.name, relation.name)
    question = SelectQuery(tuple(items), (source,), statement.where)
    return TableChange(relation, compiled(Select(question, once=True)), filled)


def _insertion(
    statement: Insert,
    relation: Relation,
    compiled: Callable[[Select], Compiled],
    defaults: Mapping[str, Value],
) -> TableChange:
    names = statement.columns or relation.names
    filled = tuple(relation.index(name) for name in names)
    found = compiled(Select(statement.query, once=True))
    if len(found.plan.columns) != len(filled):
        raise WrongWidth(
            f"{len(names)} columns are filled with {len(found.plan.columns)} values",
            position=statement.at,
            found=str(len(found.plan.columns)),
            exists=names,
        )
    others = tuple(defaults.get(name) for name in relation.names)
    return TableChange(relation, found, filled, others)
