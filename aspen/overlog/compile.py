"""Text → plans, one view per head predicate."""

from __future__ import annotations

from collections.abc import Iterable

from aspen.algebra.inline import inline
from aspen.algebra.plan import Plan, relations_of
from aspen.algebra.rewrite import flat, rewrite
from aspen.effort import effort
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SourceKind
from aspen.overlog.errors import UnknownPredicate, UnsupportedRule
from aspen.overlog.parse import parse
from aspen.overlog.queries import Queries
from aspen.overlog.recursion import bind_recursive
from aspen.overlog.resolve import resolve
from aspen.overlog.strata import is_recursive, stratify
from aspen.overlog.syntax import Materialize
from aspen.streamsql import Compiled
from aspen.streamsql.bind import environment_of


@effort()
def compile_program(text: str, catalog: Catalog) -> list[Compiled]:
    """Compile a program.

    Args:
        text: rules and `materialize` statements.
        catalog: the relations and views the rules read.

    Returns:
        One view per head predicate, each behind those it reads; every one a set.

    Raises:
        OverlogError: a rule that is not safe, not stratified, or reads what does not exist.
        BindError: types, units and functions, which one binder checks for both languages.
    """
    resolved = resolve(parse(text), catalog)
    rules = resolved.rules
    relations = {relation.name: relation.names for relation in catalog}
    queries = Queries({**relations, **resolved.columns}, resolved.windows)
    compiled: list[Compiled] = []
    for part in stratify(rules):
        environment = environment_of(catalog)
        if is_recursive(part, rules):
            limits = [resolved.most[name].rows or 0 for name in part if name in resolved.most]
            most = min(limits, default=None)
            plans = bind_recursive(part, rules, queries, environment, most)
        else:
            _refuse_limits(resolved.most.get(name) for name in part)
            plans = {name: environment.bind(queries.whole(rules[name])) for name in part}
        for name, bound in plans.items():
            plan = rewrite(flat(bound))
            done = Compiled(
                name, plan, Relation(name, plan.columns, SourceKind.VIEW), relations_of(plan)
            )
            compiled.append(done)
            catalog = catalog.with_relation(done.relation)
    return compiled


@effort()
def compile_goal(text: str, goal: str, catalog: Catalog) -> Compiled:
    """Compile a program for one predicate: of the others, what it demands.

    Args:
        goal: a head predicate; constants in its rules, and relations they join with recursive
            predicates, are demand.

    Returns:
        One view over the catalog's relations alone.

    Raises:
        OverlogError: as `compile_program`, and where no rule has that head.
        BindError: as `compile_program`.

    Law: its rows are those of the goal's view in the whole program.
    """
    views: dict[str, Plan] = {}
    for one in compile_program(text, catalog):
        assert one.name is not None
        views[one.name] = inline(one.plan, views)
    if goal not in views:
        raise UnknownPredicate(
            f"no rule has the head {goal}", found=goal, exists=sorted(views), attempt="add a rule"
        )
    plan = rewrite(views[goal])
    return Compiled(goal, plan, Relation(goal, plan.columns, SourceKind.VIEW), relations_of(plan))


def _refuse_limits(found: Iterable[Materialize | None]) -> None:
    for limit in filter(None, found):
        raise UnsupportedRule(
            f"{limit.predicate} is not recursive: it cannot grow without end",
            position=limit.at,
            found=limit.predicate,
            attempt="leave materialize out",
        )
