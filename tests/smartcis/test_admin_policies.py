"""Staff see in the admin who may read what; nobody else does."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User

from smartcis.models import MaintainedView
from smartcis.policies import POLICIES

pytestmark = pytest.mark.django_db
PAGE = "/admin/smartcis/readpolicy/"


def test_staff_see_every_policy_and_what_it_closes(client):
    MaintainedView.objects.create(
        name="near",
        sql="SELECT",
        sources=["walking_cost"],
        columns=[],
        private=True,
        standing=True,
    )
    staff = User.objects.create_user("ann", is_staff=True)
    client.force_login(staff)
    assert client.get(PAGE).status_code == 403
    staff.user_permissions.add(Permission.objects.get(codename="view_readpolicy"))
    page = client.get(PAGE).content.decode()
    assert all(f"<code>{relation}</code></th>" in page for relation in POLICIES)
    assert "r.session IN ({own})" in page
    assert "<code>near</code> is made of <code>walking_cost</code>, walking_cost tells of" in page
    assert client.get(f"{PAGE}add/").status_code == 403
