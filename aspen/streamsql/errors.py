"""The errors of StreamSQL, one class per code."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from aspen.errors import AspenError


class SyntaxRefused(AspenError):
    """Text that is not StreamSQL."""

    code = "aspen.parse.syntax"


class Unsupported(AspenError):
    """SQL that StreamSQL leaves out on purpose."""

    code = "aspen.parse.unsupported"


class NotAQuery(AspenError):
    """A statement that is neither SELECT nor CREATE VIEW."""

    code = "aspen.parse.not_a_query"


class BindError(AspenError):
    """Base of what the binder refuses."""

    code = "aspen.bind"


class UnknownRelation(BindError):
    """A source that nothing is called."""

    code = "aspen.bind.unknown_relation"


class UnknownColumn(BindError):
    """A column that no source in scope has."""

    code = "aspen.bind.unknown_column"


class AmbiguousColumn(BindError):
    """A bare column that several sources have."""

    code = "aspen.bind.ambiguous_column"


class DuplicateAlias(BindError):
    """Two sources of one name in one FROM."""

    code = "aspen.bind.duplicate_alias"


class DuplicateOutput(BindError):
    """Two output columns of one name."""

    code = "aspen.bind.duplicate_output"


class BadName(BindError):
    """A name that is no identifier."""

    code = "aspen.bind.bad_name"


class TypeMismatch(BindError):
    """An operator or function over the wrong types."""

    code = "aspen.bind.type_mismatch"


class UnitMismatch(BindError):
    """Quantities of different units compared, added or mixed."""

    code = "aspen.bind.unit_mismatch"


class UnboundedStream(BindError):
    """A stream without a window."""

    code = "aspen.bind.stream_without_window"


class MisplacedWindow(BindError):
    """A window on what is no stream."""

    code = "aspen.bind.misplaced_window"


class UnknownFunction(BindError):
    """A call of something that is no function."""

    code = "aspen.bind.unknown_function"


class WrongArity(BindError):
    """Too few or too many arguments."""

    code = "aspen.bind.wrong_arity"


class MisplacedAggregate(BindError):
    """An aggregate where rows are not yet grouped, or inside another."""

    code = "aspen.bind.misplaced_aggregate"


class NotGrouped(BindError):
    """A column that is neither grouped nor aggregated."""

    code = "aspen.bind.not_grouped"


class UnionArity(BindError):
    """UNION sides, or a column list, of different lengths."""

    code = "aspen.bind.union_arity"


class BadDeclaration(BindError):
    """A CREATE STREAM or CREATE TABLE that contradicts itself."""

    code = "aspen.bind.bad_declaration"


class OneShot(BindError):
    """A one-shot query where a maintained one is wanted, or the other way round."""

    code = "aspen.bind.one_shot"


class NoDelivery(BindError):
    """OUTPUT TO something that nothing delivers to."""

    code = "aspen.bind.no_delivery"


class BadOrder(BindError):
    """An ORDER BY that names no output where only outputs can be sorted by."""

    code = "aspen.bind.bad_order"


class MisplacedExists(BindError):
    """EXISTS or IN (query) where it is no plain condition of WHERE."""

    code = "aspen.bind.misplaced_exists"


class NonStratified(BindError):
    """Negation or an aggregate across recursion."""

    code = "aspen.bind.non_stratified"


class NoBase(BindError):
    """Recursion that nothing begins."""

    code = "aspen.bind.recursion_without_base"


class NotMonotone(BindError):
    """A recursive cost that is not known to grow (MIN) or shrink (MAX)."""

    code = "aspen.bind.not_monotone"


class UnboundedRecursion(BindError):
    """A recursive step that may compute new values for ever.

    `relation` is the recursive relation whose step it is.
    """

    code = "aspen.bind.unbounded_recursion"
    relation = ""


class ViewCycle(BindError):
    """Views that read each other in a circle."""

    code = "aspen.bind.view_cycle"


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
