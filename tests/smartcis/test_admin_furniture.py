"""What the admin changes of the house is what the API's actions change."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from smartcis.models import Desk, Kiosk, Level, Machine, OutboxEntry, RoutingNode, Source, Unit

pytestmark = [pytest.mark.database, pytest.mark.django_db]
SOFTWARE = {"software-TOTAL_FORMS": "0", "software-INITIAL_FORMS": "0"}
MACHINE = {
    "mid": "m3",
    "host": "h3",
    "unit": "A",
    "node": "",
    "x_m": "4",
    "y_m": "2",
    "cpu_type": "",
    **SOFTWARE,
}


@pytest.fixture
def operator(client, house, building):
    client.force_login(get_user_model().objects.create_superuser("op", password="x"))
    return client


def post(client, page: str, form: dict[str, str], *key: str):
    return client.post(reverse(f"admin:smartcis_{page}", args=key), form)


def delete(client, model: str, key: str) -> None:
    answer = post(client, f"{model}_delete", {"post": "yes"}, key)
    assert answer.status_code == 302


def test_a_machine_gets_its_desk_moves_and_leaves(operator):
    assert post(operator, "machine_add", MACHINE).status_code == 302
    machine = Machine.objects.get(pk="m3")
    assert (machine.desk.node, machine.node.kind, machine.x_m) == (machine.node, "desk", 4.0)
    moved = MACHINE | {"unit": "B", "x_m": "", "y_m": ""}
    assert post(operator, "machine_change", moved, "m3").status_code == 302
    assert (Machine.objects.get(pk="m3").node_id, Desk.objects.count()) == (3, 0)
    written = OutboxEntry.objects.count()
    same = MACHINE | {"unit": "B", "node": "3", "x_m": "8.0", "y_m": "8.0"}
    assert post(operator, "machine_change", same, "m3").status_code == 302
    assert OutboxEntry.objects.count() == written
    delete(operator, "machine", "m3")
    assert (Machine.objects.count(), RoutingNode.objects.count()) == (2, 3)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"x_m": "99"}, "nobody can walk to this position in A"),
        ({"node": "3"}, "point 3 is not in A"),
        ({"y_m": ""}, "a position has x_m and y_m"),
    ],
)
def test_a_machine_that_cannot_stand_there_is_refused_in_words(operator, wrong, said):
    answer = post(operator, "machine_add", MACHINE | wrong)
    assert said in str(answer.context["adminform"].form.errors)
    assert Machine.objects.count() == 2


def test_rooms_and_levels_are_renamed(operator):
    assert post(operator, "unit_change", {"name": "Lab", "category": "laboratory"}, "A").url
    room = Unit.objects.get(pk="A")
    assert (room.name, room.category, len(room.polygon)) == ("Lab", "laboratory", 1)
    wrong = post(operator, "unit_change", {"name": "Lab", "category": "stairs"}, "A")
    assert "comes from the drawing" in str(wrong.context["adminform"].form.errors)
    assert post(operator, "level_change", {"name": "Ground", "short_name": "G"}, "L0").url
    assert Level.objects.get().short_name == "G"


def test_kiosks_and_sources_come_and_go(operator):
    form = {"kiosk_id": "k2", "name": "Exit", "node": "2"}
    assert post(operator, "kiosk_add", form).status_code == 302
    assert Kiosk.objects.get(pk="k2").node_id == 2
    delete(operator, "kiosk", "k2")
    form = {"source": "gate", "name": "Gate", "kind": "push", "period_s": "60", "enabled": "on"}
    answer = post(operator, "source_add", form | {"config": "{}"})
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    chosen = {"action": "delete_selected", "_selected_action": "gate", "post": "yes"}
    assert post(operator, "source_changelist", chosen).status_code == 302
    assert not Source.objects.exists()
