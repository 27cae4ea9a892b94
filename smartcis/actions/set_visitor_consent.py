"""Set a visitor's consent: whoever holds the tag says what others may see."""

from __future__ import annotations

from django.db import transaction

from smartcis.access.visitor import visitor_of
from smartcis.models import Visitor
from smartcis.models.visitors import mint_pseudonym


def set_visitor_consent(code: str, consent: str) -> Visitor:
    """Sets what others may see of the holder of a code; effective with the engine's next epoch.

    Args:
        consent: one of `Visitor.CONSENTS`.

    Raises:
        UnknownCode: the code is nobody's.
    """
    with transaction.atomic():
        visitor = Visitor.objects.select_for_update().get(pk=visitor_of(code).pk)
        if visitor.consent == consent:
            return visitor
        if visitor.consent == Visitor.HIDDEN:
            # Who comes back is somebody new: the time between stays nobody's.
            visitor.pseudonym = mint_pseudonym()
        visitor.consent = consent
        visitor.save(update_fields=["consent", "pseudonym"])
    return visitor
