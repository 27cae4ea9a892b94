"""docs/api.md: whole, true, and enough for a client of forty lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator

from smartcis.live import consumers, protocol, slow_reader
from smartcis.models import Machine, MaintainedQuery

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/api.md").read_text(encoding="utf-8")
PROGRAM = Path(__file__).with_name("third_party.py")
ALLOWED = {"json", "sys", "time", "urllib", "collections", "websockets"}
HOSTS = "SELECT m.mid, m.host FROM machine m"


@pytest.mark.parametrize("message", [*protocol.CLIENT_MESSAGES, *protocol.SERVER_MESSAGES])
def test_every_message_and_field_of_the_socket_is_described(message):
    tag = protocol.tag_of(message)
    (line,) = re.findall(rf"^\| `{tag}` \|.*$", TEXT, re.MULTILINE)
    told = re.findall(r"`(\w+)`", line.split("|")[2])
    names = [protocol.wire_name(one.name, one.metadata) for one in fields(message)]
    assert told == [name for name in names if name != "type"]


def test_every_way_the_socket_closes_is_described():
    codes = {consumers.FOREIGN_ORIGIN, consumers.SESSION_OVER, consumers.TOO_MUCH}
    told = {int(code) for code in re.findall(r"^\| (\d{4}) \|", TEXT, re.MULTILINE)}
    assert told == codes | {slow_reader.NOT_READING}


def test_every_path_in_the_text_exists():
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    told = re.findall(r"(?:(GET|POST|PATCH|DELETE) )?(/api/v1/[\w{}/-]+/)", TEXT)
    assert len(told) > 10
    for method, path in told:
        assert path in paths
        assert (method or "GET").lower() in paths[path], (method, path)


def test_the_third_party_client_is_short_and_needs_nothing_of_ours():
    text = PROGRAM.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    imported = re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)
    assert set(imported) <= ALLOWED


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_the_third_party_client_follows_a_query_through_a_cut(cable, gate):
    command = [sys.executable, str(PROGRAM), cable.url, gate, HOSTS, "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert json.loads(program.stdout.readline()) == [["m1", "host-m1"], ["m2", "host-m2"]]
            Machine.objects.filter(mid="m1").update(host="renamed")
            assert json.loads(program.stdout.readline()) == [["m1", "renamed"], ["m2", "host-m2"]]
            cable.cut()
            Machine.objects.filter(mid="m2").update(host="renamed")
            assert json.loads(program.stdout.readline()) == [["m1", "renamed"], ["m2", "renamed"]]
            assert program.wait(timeout=120) == 0
        finally:
            program.kill()
    assert not MaintainedQuery.objects.exists()
