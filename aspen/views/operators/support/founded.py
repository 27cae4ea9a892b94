"""Founded: which rows have a derivation that leads to base rows, read off the derivation graph.

    ab ← link        bb ← ab·…  bb ← cb·…        cb ← bb·…
    founded          founded by the first        founded; without it, bb and cb hold each other

Law:        a group is founded iff it is in the least fixpoint of the derivations it can reach.
Algorithm:  backwards from the suspects to whatever their derivations use, then forwards from the
            derivations that use no row of the view: the least fixpoint over that part.
State:      within a call: per derivation met, how many of its rows are not founded yet.
Receives:   settled groups in doubt.     Gives: those that nothing founds.
Ends:       each derivation met is looked at once in each direction.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules


class _Derivation:
    """One derivation met, and how many of the rows it uses are not known to be founded."""

    __slots__ = ("group", "missing", "source")

    def __init__(self, group: Group, source: Source) -> None:
        self.group = group
        self.source = source
        self.missing = 0


def unfounded(rules: Rules, suspects: Iterable[Group], known: set[Group]) -> list[Group]:
    """Returns the groups that no derivation founds, among suspects and what they derive from.

    Args:
        suspects: settled groups.
        known: groups known to be founded; those found to be are added, and get a `via` that
            leads to base rows.
    """
    met = {group: None for group in suspects if group not in known}
    waiting = list(met)
    users: dict[Group, list[_Derivation]] = {}
    ready: list[_Derivation] = []
    while waiting:
        group = waiting.pop()
        for source, row in group.waiting.items():
            if row != group.best:
                continue
            derivation = _Derivation(group, source)
            for premise in rules.premises(source):
                if premise in known:
                    continue
                derivation.missing += 1
                users.setdefault(premise, []).append(derivation)
                if premise not in met:
                    met[premise] = None
                    waiting.append(premise)
            if not derivation.missing:
                ready.append(derivation)
    while ready:
        derivation = ready.pop()
        group = derivation.group
        if group in known:
            continue
        known.add(group)
        group.via = derivation.source
        for user in users.get(group, ()):
            user.missing -= 1
            if not user.missing:
                ready.append(user)
    return [group for group in met if group not in known]
