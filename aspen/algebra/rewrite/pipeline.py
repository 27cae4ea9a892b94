"""The rules, in the order they are tried; each row ends with the reason for its position."""

from __future__ import annotations

from aspen.algebra.rewrite.rule import Rule
from aspen.algebra.rewrite.rules import (
    apply_joins,
    apply_rows,
    demand,
    distinct,
    filter_fixpoint,
    filter_join,
    filter_outer,
    filter_unary,
    filter_union,
    filter_window,
    fold,
    join_order,
    linear,
    mutual,
    nonlinear,
    project,
    prune,
    semi_join,
)

FLATTENING: tuple[Rule, ...] = (
    apply_rows.APPLY_ROWS_ALONE,  # down to what a domain is needed for, before sub-queries there:
    apply_rows.APPLY_BELOW_ROW_BY_ROW,  # they then find its columns beside their rows
    apply_rows.APPLY_BELOW_UNION,  # as above
    apply_rows.APPLY_BELOW_SET,  # as above
    apply_rows.APPLY_BELOW_JOIN,  # as above
    apply_rows.APPLY_BELOW_GROUP,  # as above
    apply_joins.APPLY_BY_DOMAIN,  # outermost first, while the rows around are still few nodes
    apply_joins.APPLY_VALUE_BY_GROUP,  # then what needs no domain
    apply_joins.APPLY_BY_CONDITIONS,  # as above
    apply_joins.APPLY_VALUE_ALONE,  # as above
    join_order.MATCHING_KEYS,  # when all joins are there
    join_order.NARROW_ABOVE,  # brings joins together
    project.MERGE_PROJECTS,  # as above
    join_order.JOIN_ORDER,  # last: it sees all joins and conditions over them
)
"""Apply and the joins of FROM → joins with keys: the form that engines and `RULES` read."""

RULES: tuple[Rule, ...] = (
    fold.FOLD_FILTER,  # smaller predicates first: every later rule reads them
    fold.FOLD_PROJECT,  # as above
    fold.FOLD_JOIN,  # as above
    fold.DROP_TRUE_FILTER,  # what folding leaves behind
    nonlinear.NONLINEAR_TO_LINEAR,  # while no filter has reached the step
    mutual.MUTUAL_TO_SINGLE,  # as above: filters go into one relation, not into several
    filter_unary.MERGE_FILTERS,  # one predicate to split, before anything splits it
    project.MERGE_PROJECTS,  # fewer renamings between a filter and where it goes
    filter_unary.FILTER_BELOW_PROJECT,  # then down, node by node
    filter_unary.FILTER_BELOW_DISTINCT,  # as above
    filter_unary.FILTER_BELOW_GROUP,  # as above
    filter_union.FILTER_BELOW_UNION,  # as above
    filter_join.FILTER_INTO_JOIN,  # splits: left, right, keys, residual
    filter_join.RESIDUAL_INTO_JOIN_KEYS,  # for residuals that no filter brought
    filter_join.FILTER_BELOW_ANTI_JOIN,  # as the join's left part
    filter_join.ANTI_JOIN_BELOW_JOIN,  # rows go early, and recursion stays free of negation
    filter_outer.OUTER_JOIN_TO_JOIN,  # a join takes filters on both sides
    filter_outer.FILTER_BELOW_OUTER_JOIN,  # what is an outer join still
    filter_outer.FILTER_BELOW_SET_OPERATION,  # down, as below a union
    filter_window.FILTER_BELOW_RANGE,  # near the stream, where a sensor may take it
    filter_fixpoint.FILTER_INTO_FIXPOINT,  # last of the pushing: its proof walks the step
    prune.PRUNE_COLUMNS,  # when filters read what they will, and recursions are whole
    prune.PRUNE_PARTNERS,  # as above
    linear.LINEAR_OTHER_WAY,  # when nothing was pushed, and before demand gets a recursion
    demand.DEMAND_BY_CONSTANT,  # for what no turning carries
    demand.DEMAND_BY_JOIN,  # late, so that what demands is small by then
    semi_join.SEMI_JOIN_GROUPS,  # as above
    distinct.DISTINCT_OF_SET,  # what pushing has brought together
    project.DROP_IDENTITY,  # after merging, or it would hide merges
)
