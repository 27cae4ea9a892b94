"""Look at rows: a view's newest snapshot; one kept on demand is woken first."""

from __future__ import annotations

import secrets
import time

from django.conf import settings

from aspen.errors import AspenError
from aspen.log.entry import Interest
from aspen.results.protocol import EpochSnapshot
from smartcis import composition
from smartcis.access.grants import Grant
from smartcis.errors import NotFound
from smartcis.questions.asking import KEEP_S


class QueryEnded(AspenError, code="smartcis.actions.query_ended"):
    """Rows of a view that the engine cannot maintain."""


def look_at_rows(granted: Grant, asked: str) -> EpochSnapshot:
    """Returns the rows of a view.

    Args:
        granted: the view, and whether it is kept on demand.
        asked: the name the client used.

    Raises:
        NotFound: the engine has not taken it up.
        QueryEnded: it has, and cannot go on with it.
    """
    results, wait_s = composition.results(), 0.0
    if granted.on_demand:
        holder = f"look-{secrets.token_hex(6)}"
        composition.log().append([Interest(time.time(), granted.view, holder, KEEP_S)])
        wait_s = settings.ANSWER_S
    snapshot = results.wait_until(lambda: results.snapshot(granted.view), wait_s)
    if snapshot is None:
        raise NotFound(
            f"{asked} has no rows yet",
            found="registering",
            attempt="again once the engine has taken it up",
        )
    if snapshot.error is not None:
        raise QueryEnded.because_of(snapshot.error)
    return snapshot
