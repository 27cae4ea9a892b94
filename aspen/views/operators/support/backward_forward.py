"""Backward/forward: before a row is retracted, look backwards for another proof.

    −bc       ac rested on ab·bc ✗        ac ← ad·dc?  ad ← link(a, d): proved, and ac stays

Law:        exactly the rows without a proof are retracted.
Algorithm:  B. Motik, Y. Nenov, R. Piro, I. Horrocks, "Incremental Update of Datalog
            Materialisation: the Backward/Forward Algorithm", AAAI 2015. Backward chaining stops
            at the first proof; proofs and refuted rows are kept for the epoch. Own: a row is
            doubted when it loses the derivation it rests on, not any; the search begins with
            what a row rests on, since that mostly still stands.
State:      within an epoch: the proved and the refuted groups, how far each group's derivations
            were looked at, which derivation waits for whose proof, and what is left to look at.
Ends:       each derivation is looked at once per epoch.
"""

from __future__ import annotations

from collections.abc import Iterator

from aspen.model.schema import Row
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.protocol import Support
from aspen.views.operators.support.quiet import Quiet


class BackwardForward(Quiet):
    """See the module's head.

    Args:
        rules: of the recursion.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._suspects: list[Group] = []
        self._proved: set[Group] = set()
        self._refuted: set[Group] = set()
        self._agenda: list[Group] = []
        self._trails: dict[Group, Iterator[Source]] = {}
        self._spent: set[Group] = set()
        self._users: dict[Group, list[tuple[Group, Source]]] = {}

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Note groups that lost the derivation they rest on."""
        del row
        if group.via is not None and group.via == source:
            self._suspects.append(group)

    def fallen(self) -> list[Group]:
        """Look for proofs of the suspects; give the rows that have none."""
        suspects, self._suspects = self._suspects, []
        fallen: list[Group] = []
        for group in suspects:
            if group.best is None or group in self._refuted or self._proves(group):
                continue
            # The agenda is empty: no proof was overlooked of whatever was met.
            fallen += [met for met in self._trails if met not in self._proved]
            self._refuted.update(fallen)
            self._trails.clear()
            self._spent.clear()
            self._users.clear()
        return fallen

    def end(self) -> Support | None:
        """Forget the proofs: the next epoch may take away what they rested on."""
        self.clear()
        return None

    def clear(self) -> None:
        """Forget the proofs."""
        self._suspects.clear()
        self._proved.clear()
        self._refuted.clear()
        self._agenda.clear()
        self._trails.clear()
        self._spent.clear()
        self._users.clear()

    def _proves(self, target: Group) -> bool:
        """Look backwards until a row is proved or nothing is left to look at.

        What is left when a proof is found stays on the agenda: a later row may need it refuted.
        """
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
        """Give what is left to look at of a group's derivations."""
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
