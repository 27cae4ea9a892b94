"""Look at refused: what a source sent that could not be used."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from smartcis.access.owner import Owner
from smartcis.errors import Refused, unknown
from smartcis.models import RefusedMessage, Source
from smartcis.models.accesses import note_access


def look_at_refused(source_id: str, owner: Owner) -> list[RefusedMessage]:
    """Returns the kept messages of a source, newest first.

    Raises:
        Refused: the owner is no staff: a message may hold anything.
        NotFound: no such source.
    """
    if not owner.staff:
        raise Refused("only staff may see what sources sent")
    if not Source.objects.filter(pk=source_id).exists():
        raise unknown("source", source_id, Source.objects.values_list("pk", flat=True))
    # A reader that names a tag in a broken message names it here.
    note_access(
        owner.user_id, owner.account, gettext_noop("looked at"), f"messages of {source_id} left out"
    )
    return list(RefusedMessage.objects.filter(source_id=source_id))
