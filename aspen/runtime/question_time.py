"""Question time: how long questions may take, one and all of one owner, by the processor's clock.

    ann    why 300 ms   why 300 ms   why 300 ms   refused … 10 s of log time … why 300 ms

A question takes all that it may from its owner's account when it begins, and gives back what it
did not need: ten that are asked at once are not ten that nobody has counted yet.

Time ends questions alone: their answers pass and nothing rests on them, so a lane that is built
again from the log may answer what was refused before, or the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from aspen.log.entry import OneTimeQuery
from aspen.views.accounts import AT_ONCE_OF_ONE, FILLS_S, Bucket
from aspen.views.circuit import Circuit
from aspen.views.work import ShareExceeded, TimeExceeded

Ask = Callable[[int, str], None]


class QuestionTime:
    """The time that questions take.

    `clock` returns seconds of the processor; without one nothing is measured.
    """

    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit
        self.clock: Callable[[], float] | None = None

    def now_s(self) -> float:
        """Returns the processor's time, 0 where nothing is measured."""
        return 0.0 if self.clock is None else self.clock()

    def take(self, entry: OneTimeQuery) -> None:
        """Take all the time that a question may need from its owner.

        Raises:
            ShareExceeded: questions of its owner took, or may take, all that they may together.
        """
        bucket, most_s = self._bucket(entry), entry.most_ms / 1e3
        if bucket is None:
            return
        bucket.most = AT_ONCE_OF_ONE * most_s
        # Half of what one may take: who needed a little more than he has may ask again soon.
        if bucket.left(entry.at_s) < most_s / 2:
            took_ms, all_ms = bucket.owed(entry.at_s) * 1e3, bucket.most * 1e3
            wait_s = bucket.wait_s(entry.at_s, most_s / 2)
            raise ShareExceeded(
                f"your questions took {took_ms:,.0f} ms, or may still, and those of one owner may"
                f" take {all_ms:,.0f} ms in {FILLS_S:g} s",
                found="your questions",
                exists=(f"up to {all_ms:,.0f} ms in {FILLS_S:g} s",),
                attempt=f"again in {ceil(max(1.0, wait_s))} s, or about fewer rows",
            )
        bucket.take(most_s)

    def give_back(self, entry: OneTimeQuery, used_s: float) -> None:
        """Returns to the budget what a question did not need."""
        bucket = self._bucket(entry)
        if bucket is not None:
            bucket.take(used_s - entry.most_ms / 1e3)

    def limit(self, entry: OneTimeQuery) -> Ask | None:
        """Returns what refuses to go on when a question that begins now has taken too long."""
        clock, most_s = self.clock, entry.most_ms / 1e3
        if clock is None or not most_s:
            return None
        began_s = clock()

        def ask(_steps: int, what: str) -> None:
            if clock() - began_s > most_s:
                raise TimeExceeded(
                    f"the answer takes more than {entry.most_ms:,} ms, which is what one question"
                    f" may, with {what}",
                    found=what,
                    exists=(f"up to {entry.most_ms:,} ms",),
                    attempt="ask about fewer rows: give some columns a value",
                )

        return ask

    def _bucket(self, entry: OneTimeQuery) -> Bucket | None:
        """Returns what a question is taken from; None where nobody counts."""
        if self.clock is None or not entry.most_ms:
            return None
        account = self._circuit.account(entry.owner)
        return None if account is None else account.asked
