"""Importing a building: read, looked at, accepted, taken back, as the server says it goes."""

from __future__ import annotations

import json

import httpx
import pytest

from smartcis.client import Problem, SmartCIS
from smartcis.client.command_line import main

FOUND = {
    "format": "IMDF",
    "name": "Old mill",
    "replaces": "",
    "levels": 2,
    "units": 9,
    "doors": 0,
    "units_reached": 8,
    "doors_concluded": 7,
    "entrances": 1,
    "entrances_concluded": 0,
    "notes": [
        {
            "finding": "dropped",
            "what": "unit",
            "where": "u7",
            "why": "no area",
            "level_id": "L0",
            "x_m": None,
            "y_m": None,
        }
    ],
}
NO = {"code": "smartcis.importers.no", "message": "no", "position": None, "found": "", "exists": []}


class ImportingServer(httpx.BaseTransport):
    """A server that says of an import what a script holds.

    Args:
        script: a state, or a state and a refusal, for each time it is asked.
    """

    def __init__(self, *script):
        self.script = iter(script)
        self.told = []

    def handle_request(self, request):
        path = request.url.path.removeprefix("/api/v1/imports/")
        self.told.append((request.method, path, request.read()))
        if request.method == "DELETE":
            return httpx.Response(204)
        if request.method == "POST":
            return self.said("reading", None)
        state, refusal = (*next(self.script), None)[:2]
        return self.said(state, refusal)

    def said(self, state, refusal):
        report = None if state == "reading" else FOUND
        body = {"id": 3, "name": "mill.zip", "state": state, "step": "", "undoable": False}
        return httpx.Response(202, json={**body, "refusal": refusal, "report": report})

    @property
    def done(self):
        return [(method, path) for method, path, _ in self.told if method != "GET"]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr("smartcis.client.building_import.time.sleep", lambda _: None)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mill.zip"
    path.write_bytes(b"PK\x00\xff")
    return path


def test_a_building_is_read_accepted_and_taken_back(file):
    server = ImportingServer(
        *(["reading"], ["ready"], ["writing"], ["accepted"], ["undoing"], ["undone"])
    )
    one = SmartCIS("http://server", transport=server).import_building(file, replace=True)
    assert (one.entry.state, one.entry.report.units) == ("accepted", 9)
    assert one.entry.report.notes[0].why == "no area"
    one.undo()
    assert one.entry.state == "undone"
    assert server.done == [("POST", ""), ("POST", "3/accept/"), ("POST", "3/undo/")]
    assert b'name="file"; filename="mill.zip"' in server.told[0][2]
    assert b"PK\x00\xff" in server.told[0][2]
    accept = next(body for _, path, body in server.told if path == "3/accept/")
    assert json.loads(accept) == {"replace": True}


def test_a_preview_changes_nothing(file):
    server = ImportingServer(["ready"])
    one = SmartCIS("http://server", transport=server).import_building(file, preview=True)
    one.discard()
    assert server.done == [("POST", ""), ("DELETE", "3/")]


@pytest.mark.parametrize(
    "script", [[["refused", NO]], [["ready"], ["writing"], ["ready", NO]]], ids=["read", "written"]
)
def test_a_refusal_is_a_problem(file, script):
    server = ImportingServer(*script)
    with pytest.raises(Problem) as refused:
        SmartCIS("http://server", transport=server).import_building(file)
    assert refused.value.code == NO["code"]


def test_an_import_that_gets_stuck_is_a_problem(file, monkeypatch):
    seconds = iter(range(0, 10_000, 400))
    monkeypatch.setattr("smartcis.client.building_import.time.monotonic", lambda: next(seconds))
    server = ImportingServer(*[["reading"]] * 9)
    with pytest.raises(Problem) as stuck:
        SmartCIS("http://server", transport=server).import_building(file)
    assert stuck.value.code == "smartcis.client.import_stuck"


def test_what_is_no_file_is_one_sentence(tmp_path, capsys):
    assert main(["import", str(tmp_path), "--preview"]) == 1
    assert "cannot be read: Is a directory" in capsys.readouterr().err
