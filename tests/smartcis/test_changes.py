"""The change log says who of the staff changed what, by any door, and nothing else."""

from __future__ import annotations

import pytest
from api.test_api import Caller, refused
from django.contrib.auth.models import User
from django.urls import reverse

from smartcis.access.owner import SYSTEM
from smartcis.actions.issue_token import issue_token
from smartcis.actions.set_door_state import set_door_state
from smartcis.models import ChangeRecord, Machine, Sensor, Unit, Visitor

ONE = {"parameters": {"value": 1}}
pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def keeper(client, house, building):
    client.force_login(User.objects.create_superuser("keeper", password="x"))
    return client


def logged() -> list[tuple]:
    found = [(one.account, one.kind, one.key, one.fields) for one in ChangeRecord.objects.all()]
    ChangeRecord.objects.all().delete()
    return found


def test_rest_and_the_administration_are_noted_with_both_values(keeper):
    keeper.patch("/api/v1/doors/A.d1/", {"state": "locked"}, content_type="application/json")
    assert logged() == [("keeper", "door", "A.d1", {"state": ["open", "locked"]})]
    page = reverse("admin:smartcis_unit_change", args=("A",))
    keeper.post(page, {"name": "Lab", "category": "laboratory"})
    ((account, kind, key, fields),) = logged()
    assert (account, kind, key) == ("keeper", "room or corridor", "A")
    assert fields["name"][1] == "Lab"
    assert "edited" not in fields
    keeper.delete("/api/v1/kiosks/k1/")
    ((_, kind, key, fields),) = logged()
    assert (kind, key, fields["name"][1]) == ("kiosk", "k1", None)
    page = keeper.get(reverse("admin:smartcis_changerecord_changelist"))
    assert page.status_code == 200


def test_a_token_s_account_is_named(keeper):
    _, token = issue_token("script", scope="account", user=User.objects.get(username="keeper"))
    script = Caller(authorization=f"Bearer {token}")
    assert script("PATCH", "sensors/m1.seat/", {"enabled": False, **ONE}).status_code == 200
    ((account, kind, key, fields),) = logged()
    assert (account, kind, key, fields["enabled"]) == ("keeper", "sensor", "m1.seat", [True, False])


def test_what_is_not_done_by_staff_is_not_noted(client, house, building):
    set_door_state("A.d1", "locked", SYSTEM)
    client.post("/api/v1/routes/", {"node": 1, "goal": "free-machine:LaTeX"}, "application/json")
    assert logged() == []


def test_secrets_are_not_kept(keeper):
    visitor = Visitor.objects.create(tag="t")
    page = reverse("admin:smartcis_visitor_changelist")
    chosen = {"action": "give_new_codes", "_selected_action": "t"}
    assert keeper.post(page, chosen).status_code == 302
    code = Visitor.objects.get(tag="t").code
    assert code != visitor.code
    assert [fields for *_, fields in logged()] == [{"code": ["…", "…"]}]


def test_many_are_changed_together_or_none(keeper):
    keys = list(Sensor.objects.values_list("pk", flat=True))
    assert len(keys) > 1
    page = reverse("admin:smartcis_sensor_changelist")
    chosen = {"action": "change_many", "_selected_action": keys}
    asked = keeper.post(page, chosen).content.decode()
    assert f"Change {len(keys)} sensors together" in asked
    to = chosen | {"apply": "1", "changes": ["period_s", "fault", "parameters"]}
    to |= {"to-period_s": "7", "to-parameters": '{"value": 1}'}
    assert keeper.post(page, to | {"to-fault": "stuck"}).status_code == 302
    assert set(Sensor.objects.values_list("period_s", "fault")) == {(7.0, "stuck")}
    assert {fields["fault"][1] for _, _, _, fields in logged()} == {"stuck"}
    wrong = keeper.post(page, to | {"to-period_s": "100000", "to-fault": ""}).content.decode()
    assert 'id="refusal"' in wrong
    assert set(Sensor.objects.values_list("period_s", "fault")) == {(7.0, "stuck")}
    nothing = keeper.post(page, chosen | {"apply": "1"}).content.decode()
    assert "Tick what shall change" in nothing


def test_machines_and_rooms_change_together(keeper):
    machines = {"action": "change_many", "_selected_action": ["m1", "m2"], "apply": "1"}
    machines |= {"changes": ["cpu_type"], "to-cpu_type": "Xeon"}
    assert keeper.post(reverse("admin:smartcis_machine_changelist"), machines).status_code == 302
    assert set(Machine.objects.values_list("cpu_type", flat=True)) == {"Xeon"}
    rooms = {"action": "change_many", "_selected_action": ["A", "B"], "apply": "1"}
    rooms |= {"changes": ["category"], "to-category": "laboratory"}
    assert keeper.post(reverse("admin:smartcis_unit_changelist"), rooms).status_code == 302
    assert Unit.objects.filter(pk__in=["A", "B"], category="laboratory").count() == 2


def test_a_fault_is_set_marked_and_refused_where_it_means_nothing(keeper):
    page = reverse("admin:smartcis_sensor_add")
    form = {"kind": "temperature", "unit": "A", "waveform": "constant", "period_s": "5"}
    form |= {"parameters": '{"value": 20}', "enabled": "on", "simulated": "on"}
    wrong = keeper.post(page, form | {"fault": "dropout", "fault_amount": "3"})
    assert "0 to 1: between 0 and 1" in str(wrong.context["adminform"].form.errors)
    assert keeper.post(page, form | {"fault": "drift"}).status_code == 302
    sensor = Sensor.objects.get(kind="temperature")
    assert (sensor.fault, sensor.fault_amount) == ("drift", 5.0)
    assert "⚠ drift" in keeper.get(reverse("admin:smartcis_sensor_changelist")).content.decode()
    shown = keeper.get("/api/v1/sensors/?fault=drift").json()["results"]
    assert [one["sid"] for one in shown] == [sensor.sid]
    real = keeper.post(page, form | {"simulated": "", "fault": "stuck"})
    assert "only a simulated sensor" in str(real.context["adminform"].form.errors)


def test_a_card_to_try_is_a_simulated_visitor_s(client, house, building):
    visitor = Caller()
    refused(visitor("GET", "visitors/card/"), 404, "smartcis.actions.not_found")
    Visitor.objects.create(tag="real", simulated=False)
    Visitor.objects.create(tag="gone", simulated=True, enabled=False)
    refused(visitor("GET", "visitors/card/"), 404, "smartcis.actions.not_found")
    Visitor.objects.create(tag="walker", simulated=True)
    code = visitor("GET", "visitors/card/").json()["code"]
    assert Visitor.objects.get(code=code).tag == "walker"
    assert (
        visitor("GET", "visitors/me/", headers={"Visitor-Code": code}).json()["simulated"] is True
    )
