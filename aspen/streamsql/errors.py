"""The errors of StreamSQL, one class per code."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from aspen.errors import AspenError


class SyntaxRefused(AspenError, code="aspen.parse.syntax"):
    """Text that is not StreamSQL."""


class Unsupported(AspenError, code="aspen.parse.unsupported"):
    """SQL that StreamSQL leaves out on purpose."""


class NotAQuery(AspenError, code="aspen.parse.not_a_query"):
    """A statement that is neither SELECT nor CREATE VIEW."""


class BindError(AspenError, code="aspen.bind"):
    """Base of what the binder refuses."""


class UnknownName(BindError, code="aspen.bind.unknown_relation"):
    """A source that nothing is called."""


class UnknownColumn(BindError, code="aspen.bind.unknown_column"):
    """A column that no source in scope has."""


class AmbiguousColumn(BindError, code="aspen.bind.ambiguous_column"):
    """A bare column that several sources have."""


class DuplicateAlias(BindError, code="aspen.bind.duplicate_alias"):
    """Two sources of one name in one FROM."""


class DuplicateOutput(BindError, code="aspen.bind.duplicate_output"):
    """Two output columns of one name."""


class BadName(BindError, code="aspen.bind.bad_name"):
    """A name that is no identifier."""


class TypeMismatch(BindError, code="aspen.bind.type_mismatch"):
    """An operator or function over the wrong types."""


class UnitMismatch(BindError, code="aspen.bind.unit_mismatch"):
    """Quantities of different units compared, added or mixed."""


class UnboundedStream(BindError, code="aspen.bind.stream_without_window"):
    """A stream without a window."""


class MisplacedWindow(BindError, code="aspen.bind.misplaced_window"):
    """A window on what is no stream."""


class UnknownFunction(BindError, code="aspen.bind.unknown_function"):
    """A call of something that is no function."""


class WrongArity(BindError, code="aspen.bind.wrong_arity"):
    """Too few or too many arguments."""


class MisplacedAggregate(BindError, code="aspen.bind.misplaced_aggregate"):
    """An aggregate where rows are not yet grouped, or inside another."""


class NotGrouped(BindError, code="aspen.bind.not_grouped"):
    """A column that is neither grouped nor aggregated."""


class UnionArity(BindError, code="aspen.bind.union_arity"):
    """UNION sides, or a column list, of different lengths."""


class BadDeclaration(BindError, code="aspen.bind.bad_declaration"):
    """A CREATE STREAM or CREATE TABLE that contradicts itself."""


class OneShot(BindError, code="aspen.bind.one_shot"):
    """A one-shot query where a maintained one is wanted, or the other way round."""


class NoDelivery(BindError, code="aspen.bind.no_delivery"):
    """OUTPUT TO something that nothing delivers to."""


class BadAlarm(BindError, code="aspen.bind.bad_alarm"):
    """Clauses of OUTPUT TO ALARM that do not go together."""


class BadOrder(BindError, code="aspen.bind.bad_order"):
    """An ORDER BY that names no output where only outputs can be sorted by."""


class MisplacedExists(BindError, code="aspen.bind.misplaced_exists"):
    """EXISTS or IN (query) where it is no plain condition of WHERE."""


class NonStratified(BindError, code="aspen.bind.non_stratified"):
    """Negation or an aggregate across recursion."""


class NoBase(BindError, code="aspen.bind.recursion_without_base"):
    """Recursion that nothing begins."""


class NotMonotone(BindError, code="aspen.bind.not_monotone"):
    """A recursive cost that is not known to grow (MIN) or shrink (MAX)."""


class UnboundedRecursion(BindError, code="aspen.bind.unbounded_recursion"):
    """A recursive step that may compute new values for ever.

    `relation` is the recursive relation whose step it is.
    """

    relation = ""


class ViewCycle(BindError, code="aspen.bind.view_cycle"):
    """Views that read each other in a cycle."""


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Returns the names, those spelt like `name` first."""
    every = sorted(set(names))
    near = get_close_matches(name, every, n=3, cutoff=0.5)
    tails = [other for other in every if other.rpartition(".")[2] == name.rpartition(".")[2]]
    return tuple(dict.fromkeys((*near, *tails, *every)))


def suggestion(name: str, names: Iterable[str]) -> str:
    """Returns `did you mean …?` when some name is near, else nothing."""
    near = get_close_matches(name, sorted(set(names)), n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else ""
