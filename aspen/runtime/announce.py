"""Announce: what a lane tells beyond what changed, in the next batch it tells of.

everything   to whoever knows none of its views
anew         what lanes say of themselves, to whoever knows what other lanes said
"""

from __future__ import annotations

from aspen.algebra.lane_rows import CrossesLanes
from aspen.runtime.kept_errors import KeptErrors
from aspen.runtime.outcome import Outcome
from aspen.runtime.own_assignment import reads_own
from aspen.runtime.own_relations import ENGINE_ERROR, ERROR_COLUMNS
from aspen.runtime.view import View
from aspen.runtime.views import Views


class Announcements:
    """What is still to be announced of one lane's views.

    `everything` and `anew` may be set; telling resets them.
    """

    def __init__(self, views: Views, errors: KeptErrors) -> None:
        self._views = views
        self._errors = errors
        self.everything = False
        self.anew = False

    def tell(self, outcome: Outcome) -> None:
        """Publish what is due, at the beginning of an epoch."""
        everything, self.everything = self.everything, False
        anew, self.anew = self.anew, False
        for name, view in self._views.by_name.items():
            own = anew and _of_lanes(view)
            if own:
                outcome.close(name, known=True)
            if everything or own:
                _tell_of(name, view, outcome)
        if anew:
            outcome.close(ENGINE_ERROR.name, known=True)
        if (everything or anew) and self._errors.own:
            outcome.open(ENGINE_ERROR.name, ERROR_COLUMNS, self._errors.own)


def _of_lanes(view: View) -> bool:
    """Whether a view says other things where there are other lanes."""
    refused = (view.error or {}).get("code") == CrossesLanes.code
    return refused or (view.closed is not None and reads_own(view.closed))


def _tell_of(name: str, view: View, outcome: Outcome) -> None:
    if view.error is not None:
        outcome.fail(name, view.error, {})
    elif not view.suspended:
        outcome.open(name, view.columns, view.rows)
