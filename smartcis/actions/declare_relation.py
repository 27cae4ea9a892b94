"""Declare a relation: CREATE TABLE, CREATE STREAM and DROP, for people with an account."""

from __future__ import annotations

from django.db import transaction

from aspen.errors import AspenError
from aspen.model.schema import Relation, SourceKind
from aspen.streamsql.ast import CreateRelation
from aspen.streamsql.script_ast import Drop
from smartcis.access.owner import Owner
from smartcis.actions.unregister_query import end_query, refuse_readers
from smartcis.compiling.live_catalog import check_name, live_catalog
from smartcis.errors import Invalid, QuotaReached, Refused, unknown
from smartcis.models import MaintainedQuery, MaintainedView, OwnRelation
from smartcis.models.own_tables import declaration_of
from smartcis.models.turns import NAMES, take_turn
from smartcis.wrappers.declared import COLUMNS_AT_MOST

RELATIONS_AT_MOST = 20


def declare_relation(statement: CreateRelation, owner: Owner) -> OwnRelation:
    """Declare a table or stream; everybody may query it, its owner and staff may change it.

    Raises:
        Refused: the owner has no account.
        Invalid: a name or declaration that cannot be.
        QuotaReached: the owner has as many as one may have.
    """
    user_id = account_of(owner)
    relation = statement.relation
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


def drop(statement: Drop, owner: Owner) -> int:
    """Drop a table, a stream or a view that somebody named.

    Returns:
        How many there were to drop: 0 with IF EXISTS and nothing of that name.

    Raises:
        NotFound: there is none of that name.
        Refused: it is somebody else's, or a view reads it.
    """
    with transaction.atomic():
        take_turn(NAMES)  # nobody begins a view over it meanwhile
        query = MaintainedQuery.objects.filter(view__named=True, view__name=statement.name).first()
        if query is not None:
            end_query(query, owner)
            return 1
        own = OwnRelation.objects.filter(pk=statement.name).first()
        if own is None:
            if statement.if_exists:
                return 0
            raise not_ones_own(statement.name)
        check_owner(own, owner)
        refuse_readers(own.name)
        own.delete()
    return 1


def account_of(owner: Owner) -> int:
    """Returns the user a relation will belong to.

    Raises:
        Refused: nobody has logged in.
    """
    if owner.user_id is None:
        raise Refused(
            "only people with an account may declare relations", attempt="log in, or send a token"
        )
    return owner.user_id


def not_ones_own(name: str) -> AspenError:
    """Say why a name stands for nothing that statements may change."""
    if name in live_catalog():
        return Refused(
            f"{name} is the house's own, which no statement changes",
            found=name,
            attempt="staff edit it under /admin/; CREATE TABLE makes one that is yours",
        )
    views = MaintainedView.objects.filter(named=True).values_list("name", flat=True)
    names = [*OwnRelation.objects.values_list("name", flat=True), *views]
    return unknown("relation of people's own", name, names)


def check_owner(own: OwnRelation, owner: Owner) -> None:
    """Refuse changes by others.

    Raises:
        Refused: it is somebody else's.
    """
    if not owner.staff and (owner.user_id is None or own.user_id != owner.user_id):
        raise Refused(
            f"{own.name} is somebody else's",
            found=own.name,
            attempt="only who declared it, or staff, may change it",
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
