"""Look at rows: a view's newest snapshot; one kept on demand is woken first."""

from __future__ import annotations

import secrets
import time

from aspen.log.entry import Interest
from aspen.results.protocol import Snapshot
from smartcis import composition
from smartcis.access.grants import Grant
from smartcis.errors import NotFound
from smartcis.questions.asking import KEEP_S

PATIENCE_S = 5.0
_POLL_S = 0.03


def look_at_rows(granted: Grant, asked: str) -> Snapshot:
    """Returns the rows of a view.

    Args:
        granted: the view, and whether it is kept on demand.
        asked: the name the client used.

    Raises:
        NotFound: the engine has not taken it up.
    """
    results = composition.results()
    snapshot = results.snapshot(granted.view)
    if granted.on_demand:
        holder = f"look-{secrets.token_hex(6)}"
        composition.log().append([Interest(time.time(), granted.view, holder, KEEP_S)])
        deadline = time.monotonic() + PATIENCE_S
        while snapshot is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            snapshot = results.snapshot(granted.view)
    if snapshot is None:
        raise NotFound(
            f"{asked} has no rows yet",
            found="registering",
            attempt="again once the engine has taken it up",
        )
    return snapshot
