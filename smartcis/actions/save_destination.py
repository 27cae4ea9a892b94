"""Save a destination, and lead visitors to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.support.checked import checked
from smartcis.actions.support.destinations import Beneath
from smartcis.models import Destination
from smartcis.queries import standing_queries


@transaction.atomic
def save_destination(one: Destination, changes: Mapping[str, Any]) -> Destination:
    """Saves a destination whose query compiles, and deploys its view.

    Args:
        changes: of its fields.

    Raises:
        AspenError: the query does not compile, or is not one of a destination.
        Invalid: a field cannot be like this.
    """
    for name, value in changes.items():
        setattr(one, name, value)
    one.sql = one.sql.strip().removesuffix(";").rstrip()
    with checked(changes):
        one.full_clean(validate_unique=False)
    Beneath.of(standing_queries()).check(one.sql)
    one.save()
    deploy_standing_queries()
    return one
