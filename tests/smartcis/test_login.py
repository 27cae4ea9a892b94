"""Logging in: passwords cannot be tried out, neither one account's nor from one address."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


def login(client, name, password, address="192.0.2.1"):
    form = {"username": name, "password": password}
    return client.post("/admin/login/", form, REMOTE_ADDR=address)


@pytest.fixture
def anna(building):
    return User.objects.create_user("anna", password="right", is_staff=True)


def test_an_account_has_so_many_tries_wherever_they_come_from(anna, client, settings):
    settings.RATES = {**settings.RATES, "logins": {"account": 3, "address": 100}}
    for number in range(3):
        page = login(client, "anna", "wrong", f"192.0.2.{number}").content.decode()
        assert "Please enter the correct" in page
    page = login(client, "ANNA", "right", "192.0.2.9").content.decode()
    assert "too many logins in a minute from your account: again in" in page
    assert "_auth_user_id" not in client.session
    User.objects.create_user("bert", password="right", is_staff=True)
    assert login(client, "bert", "right", "192.0.2.9").status_code == 302


def test_an_address_has_so_many_tries_whatever_names_it_tries(anna, client, settings):
    settings.RATES = {**settings.RATES, "logins": {"account": 100, "address": 3}}
    for number in range(3):
        login(client, f"somebody-{number}", "wrong")
    assert "from your address" in login(client, "anna", "right").content.decode()
    assert login(client, "anna", "right", "192.0.2.2").status_code == 302
