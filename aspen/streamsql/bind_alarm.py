"""The clauses of an alarm: names looked up among the query's columns, and what goes together."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from aspen.algebra.expr import Col, Expr, substitute
from aspen.algebra.plan import Distinct, Filter, GroupBy, Plan, Project, Scan, Window
from aspen.model.catalog import Catalog
from aspen.streamsql.alarm_rule import AlarmRule
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.decimals import inside
from aspen.streamsql.errors import BadAlarm, UnknownColumn, nearest, suggestion
from aspen.streamsql.positions import at
from aspen.streamsql.scope import NamedSource, Scope
from aspen.streamsql.statement import Output


def bind_outputs(outputs: tuple[Output, ...], plan: Plan, catalog: Catalog) -> tuple[Output, ...]:
    """Looks up what alarms say of a query's columns.

    Raises:
        BindError: a column there is none of, a condition that is none, clauses that do not fit.
    """
    bound = tuple(
        replace(one, rule=_rule(one, plan, catalog)) if one.kind == "ALARM" else one
        for one in outputs
    )
    rules = [(one, one.rule) for one in bound if one.rule is not None]
    for one, rule in rules[1:]:
        if rule.keys != rules[0][1].keys:
            raise BadAlarm(
                "the alarms of one query have one KEY",
                position=one.at,
                found=", ".join(rule.keys) or "the whole row",
                exists=rules[0][1].keys,
                attempt="submit the second alarm as a query of its own",
            )
    return bound


def natural_key(plan: Plan, catalog: Catalog) -> tuple[str, ...]:
    """Returns the columns that tell a query's rows apart, none where the text does not say.

    They are those of GROUP BY, of a window of the newest row each, or of the only table read.
    """
    match plan:
        case Project(child, outputs):
            named = {value.name: column.name for column, value in outputs if isinstance(value, Col)}
            inner = natural_key(child, catalog)
            return tuple(named[one] for one in inner) if set(inner) <= set(named) else ()
        case Filter(child) | Distinct(child):
            return natural_key(child, catalog)
        case GroupBy(keys=keys):
            return keys
        case Window(rows=1, partition_by=keys):
            return keys
        case Scan(stream=False) if plan.relation in catalog:
            return tuple(f"{plan.alias}.{name}" for name in catalog.get(plan.relation).key)
    return ()


def _rule(output: Output, plan: Plan, catalog: Catalog) -> AlarmRule:
    tree = output.tree
    given = {name: tree.args.get(name) for name in tree.arg_types}
    thresholds = given["raise_when"] is not None
    if given["clear_when"] is not None and not thresholds:
        raise _alone(output, "CLEAR WHEN", given["clear_when"])
    if given["silent_s"] is not None and not thresholds:
        raise _alone(output, "NO DATA", None)
    names = [column.name for column in plan.columns]
    keys = tuple(dict.fromkeys(_key(one, names) for one in given["keys"] or ()))
    keys = keys or natural_key(plan, catalog)
    if thresholds and not keys:
        raise BadAlarm(
            "an alarm with a threshold needs to know which thing a row is about",
            position=output.at,
            found="no KEY",
            exists=names,
            attempt=f"ALARM KEY ({names[0]}) RAISE WHEN …",
        )
    scope = Scope({"": NamedSource("", plan.columns)})
    return AlarmRule(
        keys,
        _condition(given["raise_when"], scope, "RAISE WHEN"),
        given["raise_s"] or 0.0,
        _condition(given["clear_when"], scope, "CLEAR WHEN"),
        given["clear_s"] or 0.0,
        given["silent_s"],
        given["severity"] or "warning",
        tuple((one.args["kind"], one.args["this"]) for one in given["notify"] or ()),
    )


def _key(name: exp.Expr, names: list[str]) -> str:
    if name.name in names:
        return name.name
    raise UnknownColumn(
        f"the query has no column {name.name!r}",
        position=at(name),
        found=name.name,
        exists=nearest(name.name, names),
        attempt=suggestion(name.name, names) or "name columns that SELECT gives",
    )


def _condition(tree: exp.Expr | None, scope: Scope, clause: str) -> Expr | None:
    if tree is None:
        return None
    condition = ExpressionBinder(scope).predicate(tree, clause).expr
    return substitute(condition, inside(scope.sources[""].columns))


def _alone(output: Output, clause: str, tree: exp.Expr | None) -> BadAlarm:
    return BadAlarm(
        f"{clause} goes with RAISE WHEN: without it, an alarm stands while its row does",
        position=output.at if tree is None else at(tree),
        found=clause,
        attempt=f"ALARM KEY (…) RAISE WHEN … {clause} …",
    )
