"""The command line of the client, against a real server."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smartcis.client import Problem, Rows, RowsColumn, ViewDelta, ViewEnded, ViewError, ViewGap
from smartcis.client.command_line import as_json, as_text, main, table
from smartcis.models import Machine, MaintainedQuery, RouteRequest

LOST = "! the connection was lost; again in 2.5 s"
HOSTS = "SELECT m.mid, m.host FROM machine m ORDER BY mid"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def address(served, monkeypatch):
    monkeypatch.setenv("SMARTCIS_URL", f"http://{served}")
    return f"http://{served}"


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_query_in_three_forms(address, capsys):
    assert main(["query", HOSTS]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["mid  host", "---  -------", "m1   host-m1"]
    assert main(["query", HOSTS, "--csv"]) == 0
    assert capsys.readouterr().out == "mid,host\r\nm1,host-m1\r\nm2,host-m2\r\n"
    assert main(["query", HOSTS, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == [["m1", "host-m1"], ["m2", "host-m2"]]
    assert main(["query", "SELECT m.hots FROM machine m"]) == 1
    refused = capsys.readouterr()
    assert refused.out == ""
    caret = refused.err.splitlines()[1:3]
    assert caret[1].index("^") == caret[0].index("m.hots")


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_watch_ends_its_query(address):
    command = [sys.executable, "-m", "smartcis.client", "--url", address, "watch", HOSTS, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as program:
        try:
            first = json.loads(program.stdout.readline())
            assert (first["type"], len(first["rows"])) == ("snapshot", 2)
            Machine.objects.filter(mid="m1").update(host="renamed")
            second = json.loads(program.stdout.readline())
            changes = sorted(second["changes"])
            assert changes == [[-1, "m1", "host-m1"], [1, "m1", "renamed"]]
            program.send_signal(2)
            assert program.wait(timeout=120) == 130
        finally:
            program.kill()
    assert not MaintainedQuery.objects.exists()


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_way_is_told_and_ended(address, standing, capsys):
    assert main(["route", "Room B", "free-machine:LaTeX"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "m2, 0 m"
    assert not RouteRequest.objects.exists()
    assert main(["route", "Room C", "free-machine:LaTeX"]) == 1
    assert "Room A" in capsys.readouterr().err


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_readings_come_from_files_and_standard_input(address, gate, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SMARTCIS_TOKEN", gate)
    file = tmp_path / "readings.csv"
    file.write_text("sid,value,unit,at\nm1.cpu,5,%,2020-01-01T00:00:00Z\n", encoding="utf-8")
    assert main(["push", str(file)]) == 1
    assert "reading 0" in capsys.readouterr().err
    now = '{"sid": "m1.cpu", "value": 5, "unit": "%", "at_s": NOW}\n'
    monkeypatch.setattr(sys, "stdin", io.StringIO(now.replace("NOW", str(time.time())) * 2))
    assert main(["push", "-"]) == 0
    assert capsys.readouterr().out == "2 readings taken\n"
    assert main(["push", str(tmp_path / "none")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_a_wrong_address_is_one_sentence(capsys):
    assert main(["--url", "http://127.0.0.1:1", "query", "SELECT 1"]) == 1
    assert capsys.readouterr().err.startswith("smartcis.client.no_connection: http://127.0.0.1:1")


@pytest.mark.parametrize("arguments", [[], ["dance"], ["query"], ["query", "x", "--csv", "--json"]])
def test_what_is_not_understood_is_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_units_stand_in_the_head():
    columns = [RowsColumn("sid", "TEXT", ""), RowsColumn("celsius", "FLOAT", "°C")]
    rows = Rows(columns, [["s1", None]], epoch=4, position=1, at_s=0.0)
    assert table(rows)[0::2] == ["sid  celsius [°C]", "s1   -"]


@pytest.mark.parametrize(
    ("news", "text", "kind"),
    [
        (ViewDelta("v", ((2, (1, None)), (-1, (2, "x"))), 3, 3, 0.0), "- 2  x", "delta"),
        (ViewEnded("v"), "! v has ended", "ended"),
        (ViewError("v", Problem("no")), "! no", "error"),
        (ViewGap("", "the connection was lost", 2.5), LOST, "gap"),
    ],
)
def test_news_are_lines(news, text, kind):
    assert next(as_text(news)) == text
    (line,) = as_json(news)
    assert json.loads(line)["type"] == kind
