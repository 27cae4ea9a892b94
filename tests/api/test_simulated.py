"""What the map's footer says is simulated is what is simulated in this building."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from smartcis.api.simulated import KINDS
from smartcis.models import Machine

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def building():
    return APIClient().get("/api/v1/building/").json()


def note():
    return building()["simulated_note"]


@pytest.mark.usefixtures("house")
def test_the_note_counts_what_is_simulated_and_keeps_it_apart_from_what_is_real():
    for model, *_ in KINDS:
        model.objects.update(simulated=True)
    count = Machine.objects.count()
    assert note().startswith(f"Simulated: {count} machines")
    one = Machine.objects.first()
    Machine.objects.filter(pk=one.pk).update(simulated=False)
    assert f"{count - 1} of {count} machines" in note()
    counted = {"kind": "machine", "simulated": count - 1, "total": count}
    assert building()["simulated"][0] == counted
    german = APIClient().get("/api/v1/building/", headers={"Accept-Language": "de"}).json()
    assert german["simulated_note"].startswith(f"Simuliert: {count - 1} von {count} Rechnern, ")


@pytest.mark.usefixtures("house")
def test_a_building_with_nothing_made_up_says_so():
    for model, *_ in KINDS:
        model.objects.update(simulated=False)
    assert note() == "Nothing here is simulated."
    assert building()["simulated"] == []
