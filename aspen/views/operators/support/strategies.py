"""Strategies: the ways of maintaining a recursive view, by name; all give the same rows.

A name may carry options: `absorption-eager(size=50, interval=4)`, `absorption-lazy(nodes=5000)`.

Law:        whatever the strategy, rows and reasons are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from aspen.errors import AspenError
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.absorption_eager import AbsorptionEager
from aspen.views.operators.support.absorption_lazy import AbsorptionLazy
from aspen.views.operators.support.backward_forward import BackwardForward
from aspen.views.operators.support.dred import DRed
from aspen.views.operators.support.justification import Justification
from aspen.views.operators.support.recompute import Recompute
from aspen.views.operators.support.relative import Relative
from aspen.views.operators.support.support import Support

AUTO = "auto"
"""Not a strategy: whoever registers lets the cost decide."""

TRAVERSAL = "traversal"
"""Where the recursion goes along edges, it is kept by `operators.traversal` instead of Fixpoint."""

_FORMER = {"walk": TRAVERSAL}
"""Names in logs and tables written before 2026-11-22."""

DEFAULT = TRAVERSAL
NODES = 2_000_000
"""Annotation entries of one view, ~100 bytes each, unless `nodes` says otherwise."""

Notify = Callable[[AspenError], None]
Options = Mapping[str, int]


class UnknownStrategy(AspenError, code="aspen.views.unknown_strategy"):
    """A way of maintaining views that the engine does not have."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way of maintaining a recursive view.

    Args:
        name: how people call it.
        does: one sentence.
        keeps: what it remembers between epochs, beside the derivations every strategy shares.
        good: when to take it.
        options: what may be set, each a whole number above zero.
        make: builds its support.
    """

    name: str
    does: str
    keeps: str
    good: str
    make: Callable[[Rules, Options, Notify], Support]
    options: tuple[str, ...] = ()

    @property
    def annotates(self) -> bool:
        """Whether it keeps annotations, and so has a node budget."""
        return "nodes" in self.options


def _lazy(rules: Rules, options: Options, notify: Notify) -> Support:
    return AbsorptionLazy(rules, options.get("nodes", NODES), notify)


def _eager(rules: Rules, options: Options, notify: Notify) -> Support:
    size, interval = options.get("size"), options.get("interval", 1)
    nodes = options.get("nodes", NODES)
    return AbsorptionEager(rules, nodes, notify, size=size, interval=interval)


def _plain(_rules: Rules, _options: Options, _notify: Notify) -> Support:
    return Justification()


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        strategy.name: strategy
        for strategy in (
            Strategy(
                TRAVERSAL,
                "Where the recursion goes along edges, a row is a bit or a number and keeps only "
                "the edge it was reached by; where ways are only counted or added up, a key keeps "
                "their sums; everywhere else this is justification.",
                "an edge per row, and no waiting derivations",
                "the recursion traverses a graph: it always costs least there",
                _plain,
            ),
            Strategy(
                "justification",
                "A row rests on the one derivation that settled it; when that goes, the row and "
                "what rests on it are retracted and settle again by what waits.",
                "nothing",
                "few rows rest on what changes, or memory is short",
                _plain,
            ),
            Strategy(
                "backward-forward",
                "Before a row is retracted, another proof of it is looked for backwards.",
                "nothing between epochs",
                "rows have many derivations, so that most deletions remove few rows",
                lambda rules, _options, _notify: BackwardForward(rules),
            ),
            Strategy(
                "relative",
                "A row that lost a derivation stays if a search of the derivation graph from it "
                "reaches base rows.",
                "nothing between epochs",
                "the view is small",
                lambda rules, _options, _notify: Relative(rules),
            ),
            Strategy(
                "dred",
                "Whatever lost a derivation is retracted, and what still has one settles again.",
                "nothing",
                "rows have one derivation each",
                lambda _rules, _options, _notify: DRed(),
            ),
            Strategy(
                "absorption-lazy",
                "A row carries the Boolean product of the input rows its derivation used; a "
                "deletion finds by index whose product is false.",
                "a product per row",
                "annotations are wanted, and deletions far from the base",
                _lazy,
                ("nodes",),
            ),
            Strategy(
                "absorption-eager",
                "A row carries the OR of all its derivations; a deletion touches only rows "
                "whose annotation becomes false.",
                "a decision diagram per row",
                "deletions are frequent, insertions rare, and rows have few derivations",
                _eager,
                ("size", "interval", "nodes"),
            ),
            Strategy(
                "recompute",
                "The view is computed from scratch whenever an input changed.",
                "nothing that decides",
                "most of the view changes in every epoch",
                lambda _rules, _options, _notify: Recompute(),
            ),
        )
    }
)

_SPELT = re.compile(r"(?P<name>[a-z][a-z-]*)(?:\((?P<options>[^()]*)\))?")


def named(spelt: str) -> tuple[Strategy, Options]:
    """Read a strategy's name and its options.

    Raises:
        UnknownStrategy: no such strategy, or no such option.
    """
    match = _SPELT.fullmatch(spelt.strip())
    strategy = STRATEGIES.get(_FORMER.get(match["name"], match["name"])) if match else None
    if match is None or strategy is None:
        raise UnknownStrategy(
            f"there is no strategy {spelt[:60]}", found=spelt[:60], exists=[*STRATEGIES, AUTO]
        )
    options: dict[str, int] = {}
    for part in filter(None, (match["options"] or "").split(",")):
        option, _, value = (piece.strip() for piece in part.partition("="))
        if option not in strategy.options or not value.isdecimal() or not int(value):
            raise UnknownStrategy(
                f"strategy {strategy.name} takes no {part.strip()[:60]}",
                found=part.strip()[:60],
                exists=[f"{name}=<whole number above 0>" for name in strategy.options],
            )
        options[option] = int(value)
    return strategy, options


def canonical(spelt: str) -> str:
    """Spell a strategy in the one way, so that equal ones are equal texts.

    Raises:
        UnknownStrategy: no such strategy, or no such option.
    """
    strategy, options = named(spelt)
    inside = ",".join(f"{o}={options[o]}" for o in strategy.options if o in options)
    return f"{strategy.name}({inside})" if inside else strategy.name


def make_support(spelt: str, rules: Rules, notify: Notify) -> Support:
    """Build the support of a strategy.

    Raises:
        UnknownStrategy: no such strategy, or no such option.
    """
    strategy, options = named(spelt)
    return strategy.make(rules, options, notify)
