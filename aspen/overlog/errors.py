"""The errors of the rule language, one class per code."""

from __future__ import annotations

from aspen.errors import AspenError


class OverlogError(AspenError):
    """Base of what the rule language refuses."""

    code = "aspen.overlog"


class SyntaxRefused(OverlogError):
    """Text that is no rule."""

    code = "aspen.overlog.syntax"


class Unsupported(OverlogError):
    """Overlog that this dialect leaves out on purpose."""

    code = "aspen.overlog.unsupported"


class UnknownPredicate(OverlogError):
    """A body predicate that is neither a relation nor the head of a rule."""

    code = "aspen.overlog.unknown_predicate"


class NameTaken(OverlogError):
    """A head predicate, or an alias made for it, that the catalog has already."""

    code = "aspen.overlog.name_taken"


class WrongArity(OverlogError):
    """A predicate with too few or too many arguments."""

    code = "aspen.overlog.wrong_arity"


class UnboundVariable(OverlogError):
    """A variable that no positive predicate of its body binds: the rule is not safe."""

    code = "aspen.overlog.unbound_variable"


class MisplacedAggregate(OverlogError):
    """An aggregate outside a head, or rules of one predicate that aggregate differently."""

    code = "aspen.overlog.misplaced_aggregate"


class NonStratified(OverlogError):
    """Negation or an aggregate in a circle."""

    code = "aspen.overlog.non_stratified"


class NoBase(OverlogError):
    """Predicates all of whose rules read them."""

    code = "aspen.overlog.recursion_without_base"


class NotMonotone(OverlogError):
    """A recursive cost that is not known to grow (min) or shrink (max)."""

    code = "aspen.overlog.not_monotone"


class UnboundedRecursion(OverlogError):
    """A recursive rule that may compute new values for ever."""

    code = "aspen.overlog.unbounded_recursion"


class StreamWithoutLifetime(OverlogError):
    """A stream that no `materialize` bounds."""

    code = "aspen.overlog.stream_without_lifetime"
