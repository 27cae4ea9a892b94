"""Relative: rows refer to the derivations they come from; a deletion walks these to base rows.

    −bc       ac ← ab·bc ✗   ac ← ad·dc        ac stays if the walk from ad reaches base rows

Law:        exactly the rows outside the least fixpoint of the derivations they can reach, those
            without a well-founded derivation, are retracted: two rows that hold each other fall.
Algorithm:  T. J. Green et al., "Update Exchange with Mappings and Provenance", VLDB 2007, the
            "relative provenance" [LTZIL09] compares with. Own: the derivation graph is what MinShip
            holds; the walk goes backwards from the suspects, then forwards from the derivations
            that use no row of the view; what was found founded in an epoch is not walked again.
State:      within an epoch, the groups found founded.
Ends:       each derivation is walked once per epoch in each direction, up to all of the view.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.support import Support


class Relative(Support):
    """See the module's head."""

    doubts_any = True

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules
        self._founded: set[Group] = set()

    def convicted(self, suspects: list[Group]) -> list[Group]:
        """Walk from the suspects; give the rows no walk from which reaches base rows."""
        settled = [group for group in suspects if group.best is not None]
        return _unfounded(self._rules, settled, self._founded)

    def forget(self) -> None:
        """Forget the walks, too."""
        super().forget()
        self._founded.clear()


class _Derivation:
    """One derivation met, and how many of the rows it uses are not known to be founded."""

    __slots__ = ("group", "missing", "source")

    def __init__(self, group: Group, source: Source) -> None:
        self.group = group
        self.source = source
        self.missing = 0


def _unfounded(rules: Rules, suspects: Iterable[Group], known: set[Group]) -> list[Group]:
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
