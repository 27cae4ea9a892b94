"""The errors of the rule language, one class per code."""

from __future__ import annotations

from aspen.errors import AspenError


class OverlogError(AspenError, code="aspen.overlog"):
    """Base of what the rule language refuses."""


class RuleSyntaxRefused(OverlogError, code="aspen.overlog.syntax"):
    """Text that is no rule."""


class UnsupportedRule(OverlogError, code="aspen.overlog.unsupported"):
    """Overlog that this dialect leaves out on purpose."""


class UnknownPredicate(OverlogError, code="aspen.overlog.unknown_predicate"):
    """A body predicate that is neither a relation nor the head of a rule."""


class NameTaken(OverlogError, code="aspen.overlog.name_taken"):
    """A head predicate, or an alias made for it, that the catalog has already."""


class WrongPredicateArity(OverlogError, code="aspen.overlog.wrong_arity"):
    """A predicate with too few or too many arguments."""


class UnboundVariable(OverlogError, code="aspen.overlog.unbound_variable"):
    """A variable that no positive predicate of its body binds: the rule is not safe."""


class MisplacedHeadAggregate(OverlogError, code="aspen.overlog.misplaced_aggregate"):
    """An aggregate outside a head, or rules of one predicate that aggregate differently."""


class NonStratifiedRules(OverlogError, code="aspen.overlog.non_stratified"):
    """Negation or an aggregate in a cycle."""


class NoBaseRule(OverlogError, code="aspen.overlog.recursion_without_base"):
    """Predicates all of whose rules read them."""


class NotMonotoneRule(OverlogError, code="aspen.overlog.not_monotone"):
    """A recursive cost that is not known to grow (min) or shrink (max)."""


class UnboundedRule(OverlogError, code="aspen.overlog.unbounded_recursion"):
    """A recursive rule that may compute new values for ever."""


class StreamWithoutLifetime(OverlogError, code="aspen.overlog.stream_without_lifetime"):
    """A stream that no `materialize` bounds."""
