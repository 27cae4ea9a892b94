"""Look at refused: what a source sent that could not be used."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from smartcis.access.owner import Owner
from smartcis.models import RefusedMessage, Source
from smartcis.models.accesses import note_access
from smartcis.models.lookup import found


def look_at_refused(source_id: str, owner: Owner) -> list[RefusedMessage]:
    """Returns the kept messages of a source, newest first.

    Raises:
        Refused: the owner is no staff: a message may hold anything.
        NotFound: no such source.
    """
    owner.require_staff("see what sources sent")
    source = found(Source, source_id, "source")
    # A reader that names a tag in a broken message names it here.
    note_access(
        owner.user_id, owner.account, gettext_noop("looked at"), f"messages of {source_id} left out"
    )
    return list(RefusedMessage.objects.filter(source=source))
