"""Submit a statement: what it is decides what is done; none is ever taken for another sort."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from aspen.streamsql.errors import OneShot
from aspen.streamsql.statement import Statement
from aspen.views.operators.support.strategies import AUTO
from smartcis.access.owner import Owner
from smartcis.access.queries import require_may_query
from smartcis.actions.answer_once import answer_once
from smartcis.actions.change_rows import change_rows
from smartcis.actions.declare_relation import declare_relation
from smartcis.actions.drop_relation import drop_relation
from smartcis.actions.register_query import register_query
from smartcis.actions.share_example import share_example
from smartcis.examples import example_of
from smartcis.models import MaintainedQuery
from smartcis.questions.once import OnceAnswer


@dataclass(frozen=True, slots=True)
class StatementResult:
    """What a statement changed.

    Args:
        statement: INSERT, DROP and the like.
        name: the relation it names.
        changed: rows; of CREATE and DROP, relations.
    """

    kind: Literal["done"] = field(default="done", init=False)

    statement: str
    name: str
    changed: int


def submit_statement(
    statement: Statement, owner: Owner, *, name: str = "", strategy: str = AUTO
) -> MaintainedQuery | OnceAnswer | StatementResult:
    """Does what a statement says.

    Args:
        name: of a query to maintain.
        strategy: how it is maintained.

    Raises:
        AspenError: what is wrong with the text, and where; who may not; how many one may have.
    """
    require_may_query(owner)
    if not statement.maintained and (name or strategy != AUTO):
        raise OneShot(
            "this is not maintained, so it has neither a name nor a strategy",
            position=statement.at,
            found=name or strategy,
            attempt="leave them out, or submit a SELECT without ONCE",
        )
    example = example_of(statement.text)
    visitor = owner.user_id is None and not owner.staff
    plain = statement.maintained and not (name or statement.outputs) and strategy == AUTO
    if example and visitor and plain:
        return share_example(example, statement, owner)
    if statement.maintained:
        return register_query(statement, owner, name=name, strategy=strategy)
    if statement.asks:
        return answer_once(statement, owner)
    if statement.relation is not None:
        declare_relation(statement.relation, owner)
        changed = 1
    elif statement.kind == "DROP":
        changed = drop_relation(statement, owner)
    else:
        changed = change_rows(statement, owner)
    return StatementResult(statement.kind, statement.name, changed)
