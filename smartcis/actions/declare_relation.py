"""Declare a relation: CREATE TABLE and CREATE STREAM, for people with an account."""

from __future__ import annotations

from django.db import transaction

from aspen.model.schema import Relation, SourceKind
from smartcis.access.owner import Owner
from smartcis.actions.support.own_relations import account_of
from smartcis.compiling.live_catalog import check_name
from smartcis.errors import Invalid, QuotaReached
from smartcis.models import OwnRelation
from smartcis.models.own_tables import declaration_of
from smartcis.wrappers.declared import COLUMNS_AT_MOST

RELATIONS_AT_MOST = 20


def declare_relation(relation: Relation, owner: Owner) -> OwnRelation:
    """Declares a table or stream; everybody may query it, its owner and staff may change it.

    Raises:
        Refused: the owner has no account.
        Invalid: a name or declaration that cannot be.
        QuotaReached: the owner has as many as one may have.
    """
    user_id = account_of(owner)
    _check(relation)
    with transaction.atomic():
        check_name(relation.name)  # and with that, it is nobody else's turn to declare
        held = OwnRelation.objects.filter(user_id=user_id).count()
        if held >= RELATIONS_AT_MOST and not owner.staff:
            raise QuotaReached(
                f"you have declared {held} relations",
                found=str(held),
                exists=[f"up to {RELATIONS_AT_MOST}"],
                attempt="drop one of them",
            )
        return OwnRelation.objects.create(
            name=relation.name, user_id=user_id, declaration=declaration_of(relation)
        )


def _check(relation: Relation) -> None:
    fault = ""
    if relation.device or relation.rate_hz:
        fault = "only the house itself declares streams of its devices"
    elif relation.ttl_s and relation.kind is SourceKind.TABLE:
        fault = "rows of a table declared here stay until they are deleted"
    elif not 1 <= len(relation.columns) <= COLUMNS_AT_MOST:
        fault = f"a relation has between 1 and {COLUMNS_AT_MOST} columns"
    if fault:
        raise Invalid(fault, found=relation.name, attempt="CREATE STREAM, and query it in a window")
