"""End a walk."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.actions.support.routes import owned_route


def end_route(session: str, owner: Owner) -> None:
    """Ends a walk.

    Raises:
        NotFound: no such walk of this browser.
    """
    owned_route(session, owner).delete()
