"""Save a destination, and lead visitors to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from aspen.algebra.read import read_plan
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.support.checked import checked
from smartcis.actions.support.destinations import Beneath
from smartcis.compiling.lanes import over_base_relations
from smartcis.models import Destination, MaintainedView
from smartcis.queries import standing_queries


@transaction.atomic
def save_destination(one: Destination, changes: Mapping[str, Any]) -> Destination:
    """Saves a destination whose query compiles, and deploys its view.

    Args:
        changes: of its fields.

    Raises:
        AspenError: the query does not compile, or is not one of a destination.
        Invalid: a field cannot be like this.
        TooComplex: with it, a view of walks is more than one plan may be.
    """
    for name, value in changes.items():
        setattr(one, name, value)
    one.sql = one.sql.strip().removesuffix(";").rstrip()
    with checked(changes):
        one.full_clean(validate_unique=False)
    Beneath.of(standing_queries()).check(one.sql)
    one.save()
    deploy_standing_queries()
    for view in MaintainedView.objects.filter(standing=True, private=True):
        over_base_relations(read_plan(view.plan_text))
    return one
