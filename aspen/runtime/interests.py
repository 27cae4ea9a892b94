"""Interests: who looks at which view, and until when that counts.

    log      Interest v, holder a, 120 s ── … ── Interest v, a ── … silence … ── Tick +121 s
    held     v: {a: +120}                        v: {a: +240}                    v: nobody

Law: a function of the log alone: a holder that died is forgotten by ticks, not by a clock.
Source: [GOE19] section 7.2, register and interest.
"""

from __future__ import annotations


class Interests:
    """The interests of one lane; `held` has per view and holder the log time it counts until."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, float]] = {}

    def __contains__(self, view: str) -> bool:
        """Whether anybody looks at a view."""
        return view in self.held

    def take(self, view: str, holder: str, until_s: float) -> bool:
        """Note an interest, or that it lasts longer.

        Returns:
            Whether it is the view's first.
        """
        first = view not in self.held
        self.held.setdefault(view, {})[holder] = until_s
        return first

    def drop(self, view: str, holder: str) -> bool:
        """Note that an interest has ended.

        Returns:
            Whether it was the view's last.
        """
        holders = self.held.get(view, {})
        if holders.pop(holder, None) is None or holders:
            return False
        del self.held[view]
        return True

    def expire(self, now_s: float) -> list[str]:
        """Forget holders that were silent for too long; give the views that lost their last."""
        gone = [
            (view, holder)
            for view, holders in self.held.items()
            for holder, until_s in holders.items()
            if until_s < now_s
        ]
        return [view for view, holder in gone if self.drop(view, holder)]
