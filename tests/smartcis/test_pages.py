"""Pages before any script runs: the first picture, what is compressed and kept, what phones get."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from urllib.parse import quote

import pytest
import segno
from django.contrib.auth.models import User

from smartcis.models import Kiosk
from smartcis.plan_picture import plan_picture

pytestmark = pytest.mark.django_db


def test_the_first_picture_is_the_floor_that_the_page_will_show(client, house, building):
    picture = plan_picture("L0")
    assert {category for _, category in picture.shapes}
    assert all(path.startswith("M") and path.endswith("Z") for path, _ in picture.shapes)
    page = client.get("/?level=L0").content.decode()
    assert page.count('class="room"') == len(picture.shapes)
    assert picture.box in page
    assert picture == plan_picture("nowhere") == plan_picture(kiosk_id="k1")
    assert 'id="first-picture"' in client.get("/kiosk/k1/").content.decode()


def test_without_a_building_there_is_no_picture(client, db):
    assert plan_picture() is None
    assert client.get("/").status_code == 200


def test_pages_and_plans_travel_compressed(client, house, building):
    for path in ("/", "/api/v1/building/"):
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["Content-Encoding"] == "gzip", path
        assert gzip.decompress(answer.content)


def test_the_page_for_no_network_names_nobody(client, house, building):
    client.force_login(User.objects.create_superuser("keeper", password="x"))
    page = client.get("/offline/").content.decode()
    assert "keeper" not in page
    assert "csrfmiddlewaretoken" not in page
    assert 'data-staff="0"' in page


def test_the_service_worker_keeps_all_that_the_map_loads(client, house, building):
    answer = client.get("/sw.js")
    assert answer.headers["Content-Type"] == "text/javascript"
    assert answer.headers["Cache-Control"] == "no-cache"
    text = answer.content.decode()
    files = json.loads(re.search(r"const FILES = (\[.*?\]);", text).group(1))
    page = client.get("/").content.decode()
    assert set(re.findall(r'(?:src|href)="(/static/assets/[^"]+)"', page)) <= set(files)
    checked = subprocess.run(
        ["node", "--check", "-"], input=text, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_devices_can_install_it(client, house, building):
    said = client.get("/manifest.webmanifest").json()
    assert {icon["sizes"] for icon in said["icons"]} == {"192x192", "512x512"}
    for icon in said["icons"]:
        assert b"".join(client.get(icon["src"])).startswith(b"\x89PNG")
    assert said["start_url"] == "/"


def test_a_qr_code_leads_to_a_page_of_ours_and_nowhere_else(client, house, building, settings):
    to = "/?kiosk=k1&software=LaTeX"
    drawn = client.get(f"/qr.svg?to={quote(to)}").content
    wanted = segno.make_qr(f"http://testserver{to}", error="m")
    path = wanted.svg_inline(border=3, light="#fff", omitsize=True)
    assert path.split('class="qrline"')[1].split("/>")[0].encode() in drawn
    for wrong in ("https://example.org/", "//example.org/", "/" + "x" * 2000):
        assert client.get(f"/qr.svg?to={quote(wrong)}").status_code == 400
    settings.PUBLIC_URL = "https://map.example.org"
    assert client.get(f"/qr.svg?to={quote(to)}").content != drawn


def test_a_kiosk_s_bearing_is_set_by_rest_and_refused_beyond_a_circle(client, house, building):
    client.force_login(User.objects.create_superuser("keeper", password="x"))

    def patch(bearing):
        body = json.dumps({"bearing_deg": bearing})
        return client.patch("/api/v1/kiosks/k1/", body, "application/json")

    assert patch(270).json()["bearing_deg"] == 270
    assert Kiosk.objects.get(pk="k1").bearing_deg == 270
    assert patch(400).status_code == 400
    assert patch(None).json()["bearing_deg"] is None
