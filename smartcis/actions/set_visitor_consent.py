"""Set a visitor's consent: whoever holds the tag says what others may see."""

from __future__ import annotations

from django.db import transaction

from smartcis.access.visitor import visitor_of
from smartcis.errors import Invalid
from smartcis.models import Visitor
from smartcis.models.visitors import mint_pseudonym

CONSENTS = tuple(name for name, _ in Visitor.CONSENTS)


def set_visitor_consent(code: str, consent: str) -> Visitor:
    """Sets what others may see of the holder of a code; effective with the engine's next epoch.

    Raises:
        UnknownCode: the code is nobody's.
        Invalid: there is no such consent.
    """
    if consent not in CONSENTS:
        raise Invalid(
            "that cannot be chosen", found=consent[:40], exists=CONSENTS, attempt=Visitor.HIDDEN
        )
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
