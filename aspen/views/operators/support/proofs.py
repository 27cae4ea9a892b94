"""Proofs: backward chaining for rows of a recursion, stopping at the first proof.

    ac?       ac ← ab·bc   ab? refuted       ac ← ad·dc   ad ← link(a, d)      ac proved

Law:        exactly the rows without a derivation that leads to base rows are refuted.
Algorithm:  B. Motik, Y. Nenov, R. Piro, I. Horrocks, "Incremental Update of Datalog
            Materialisation: the Backward/Forward Algorithm", AAAI 2015. Own: the search begins
            with what a row rested on, since that mostly still stands; what is left to look at
            when a proof is found stays on the agenda.
State:      the proved and the refuted groups, how far each group's derivations were looked at,
            which derivation waits for whose proof. It holds as long as derivations only go.
Receives:   settled groups in doubt.     Gives: those without a proof.
Ends:       each derivation is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules


class Proofs:
    """See the module's head."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._proved: set[Group] = set()
        self._refuted: set[Group] = set()
        self._agenda: list[Group] = []
        self._trails: dict[Group, Iterator[Source]] = {}
        self._spent: set[Group] = set()
        self._users: dict[Group, list[tuple[Group, Source]]] = {}

    def refuted(self, groups: Iterable[Group]) -> list[Group]:
        """Look for proofs of settled groups' rows.

        Returns:
            Those that have none, and what they had hung on; the others got a live `via` that
            leads to base rows.
        """
        found: list[Group] = []
        for group in groups:
            if group.best is None or group in self._refuted or self._proves(group):
                continue
            # The agenda is empty: no proof was overlooked of whatever was met.
            found += [met for met in self._trails if met not in self._proved]
            self._refuted.update(found)
            self._trails.clear()
            self._spent.clear()
            self._users.clear()
        return found

    def clear(self) -> None:
        """Forget the proofs."""
        self._proved.clear()
        self._refuted.clear()
        self._agenda.clear()
        self._trails.clear()
        self._spent.clear()
        self._users.clear()

    def _proves(self, target: Group) -> bool:
        """Look backwards until a row is proved or nothing is left to look at."""
        proved, refuted = self._proved, self._refuted
        spent, agenda = self._spent, self._agenda
        agenda.append(target)
        while target not in proved:
            if not agenda:
                return False
            group = agenda[-1]
            source = None if group in proved else next(self._trail(group), None)
            if source is None:
                spent.add(agenda.pop())
                continue
            if group.waiting.get(source) != group.best:
                continue
            missing = [p for p in self._rules.premises(source) if p not in proved]
            if not missing:
                self._prove(group, source)
            elif not refuted.isdisjoint(missing):
                continue
            for premise in missing:
                self._users.setdefault(premise, []).append((group, source))
                if premise not in spent:
                    agenda.append(premise)
        return True

    def _trail(self, group: Group) -> Iterator[Source]:
        """Returns what is left to look at of a group's derivations."""
        trail = self._trails.get(group)
        if trail is None:
            found = list(group.waiting)
            if group.via in group.waiting:
                # What it rests on mostly still stands.
                found.insert(0, group.via)
            trail = self._trails[group] = iter(found)
        return trail

    def _prove(self, group: Group, source: Source) -> None:
        """Note a proof, and the proofs it completes."""
        proved, ready = self._proved, [(group, source)]
        while ready:
            group, source = ready.pop()
            if group in proved:
                continue
            proved.add(group)
            group.via = source
            for user, using in self._users.pop(group, ()):
                if (
                    user not in proved
                    and user.best is not None
                    and user.waiting.get(using) == user.best
                    and all(p in proved for p in self._rules.premises(using))
                ):
                    ready.append((user, using))
