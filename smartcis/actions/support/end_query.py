"""End a query, and with its last one the view that answers it."""

from __future__ import annotations

from smartcis.access.owner import Owner
from smartcis.errors import Refused
from smartcis.models import MaintainedQuery, MaintainedView
from smartcis.models.queries import readers_of
from smartcis.models.turns import NAMES, take_turn

READERS_SHOWN = 8


def end_query(query: MaintainedQuery, owner: Owner) -> None:
    """Ends a query; runs in a transaction.

    Raises:
        Refused: it is somebody else's, or others read its view.
    """
    owner.require_own(query, "only its owner or staff may stop it")
    if query.view.named:
        take_turn(NAMES)  # nobody begins a view over it meanwhile
    # Whoever asks the same in this moment waits, and then finds the view gone or kept.
    view = MaintainedView.objects.select_for_update().filter(pk=query.view_id).first()
    if view is None:
        return  # it was stopped twice in this moment, and the query went with its view
    if view.named:
        refuse_readers(view.name)
    query.delete()  # and with the last one, its view


def refuse_readers(name: str) -> None:
    """Refuses to take away what views read.

    Raises:
        Refused: one does.
    """
    readers = readers_of(name)
    if readers:
        raise Refused(
            f"{readers[0]} reads {name}",
            found=name,
            exists=readers[:READERS_SHOWN],
            attempt="stop the queries that read it first",
        )
