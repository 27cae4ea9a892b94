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

from sqlglot import exp

from aspen.algebra.plan import Values
from aspen.errors import AspenError
from aspen.model.schema import Relation, Row, Value
from aspen.streamsql.compile import Compiled
from aspen.streamsql.convert import converted
from aspen.streamsql.positions import NOWHERE
from aspen.streamsql.statement import Statement
from aspen.streamsql.tree import column_of


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
    statement: Statement,
    relation: Relation,
    compiled: Callable[[Statement], Compiled],
    defaults: Mapping[str, Value] | None = None,
) -> TableChange:
    """Compile an INSERT, DELETE or UPDATE over the table it names.

    Args:
        compiled: compiles a question, in the catalog and with the rights of whoever changes.
        defaults: by column, what INSERT fills it with when it does not name it; NULL otherwise.

    Raises:
        WrongWidth: an INSERT of more or fewer values than columns.
        AspenError: a name, type or value that is wrong.
    """
    tree = statement.tree
    if statement.kind == "INSERT":
        named = [column.name for column in tree.this.expressions]
        names = named if isinstance(tree.this, exp.Schema) else relation.names
        filled = tuple(relation.index(name) for name in names)
        found = compiled(_asked(statement, tree.expression))
        if len(found.plan.columns) != len(filled):
            raise WrongWidth(
                f"{len(names)} columns are filled with {len(found.plan.columns)} values",
                position=statement.at,
                found=str(len(found.plan.columns)),
                exists=names,
            )
        others = tuple((defaults or {}).get(name) for name in relation.names)
        return TableChange(relation, found, filled, others)
    items: list[exp.Expr] = [column_of(relation.name, n, NOWHERE) for n in relation.names]
    assigned = tree.expressions if statement.kind == "UPDATE" else []
    filled = tuple(relation.index(part.this.name) for part in assigned)
    items += [exp.alias_(part.expression, f"set_{n}") for n, part in enumerate(assigned)]
    question = exp.select(*(items or [exp.Star()])).from_(exp.Table(this=tree.this.this))
    question.set("where", tree.args.get("where"))
    return TableChange(relation, compiled(_asked(statement, question)), filled)


def _asked(statement: Statement, query: exp.Expr) -> Statement:
    return Statement(statement.text, "once", query, statement.at)
