"""Importing a building or an inventory: read, looked at, accepted, as the server says it goes."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from smartcis.client import Problem, SmartCIS
from smartcis.client.command_line import main

FOUND = {
    "format": "IMDF",
    "name": "Old mill",
    "adds": "",
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
        body |= {"add": False, "refusal": refusal, "report": report}
        return httpx.Response(202, json=body)

    @property
    def done(self):
        return [(method, path) for method, path, _ in self.told if method != "GET"]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr("smartcis.client.building_import.sleep", lambda _: None)


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
    monkeypatch.setattr("smartcis.client.building_import.monotonic", lambda: next(seconds))
    server = ImportingServer(*[["reading"]] * 9)
    with pytest.raises(Problem) as stuck:
        SmartCIS("http://server", transport=server).import_building(file)
    assert stuck.value.code == "smartcis.client.import_stuck"


def test_a_building_comes_beside_others(file, monkeypatch, capsys):
    monkeypatch.setitem(FOUND, "adds", "mill")
    server = ImportingServer(["ready"], ["accepted"])
    at_server(monkeypatch, server)
    assert main(["import", str(file), "--add"]) == 0
    assert form(server.told[0][2]) == {"add": "true"}
    said = capsys.readouterr().out
    assert "it comes beside the others, as mill" in said
    assert "it is one of the buildings now, by import 3" in said
    with pytest.raises(SystemExit):
        main(["import", str(file), "--add", "--replace"])


def at_server(monkeypatch, transport):
    monkeypatch.setattr(
        "smartcis.client.command_line.SmartCIS",
        lambda url, _token, **_: SmartCIS(url, transport=transport),
    )


def form(body: bytes) -> dict[str, str]:
    """Returns the fields of a form, but for its file."""
    found = re.findall(rb'form-data; name="(\w+)"\r\n\r\n(.*)\r\n', body)
    return {name.decode(): value.decode() for name, value in found}


TABLE = {
    "thing": "machines",
    "columns": {"mid": "mid"},
    "ignored": ["Colour"],
    "preview": True,
    "counts": {"added": 0, "changed": 1, "removed": 1, "refused": 1},
    "rows": [
        {"number": 2, "key": "m1", "outcome": "changed", "changes": {"rid": ["", "A"]}},
        {"number": 3, "key": "m2", "outcome": "unchanged", "changes": {}},
        {"number": 4, "key": "m3", "outcome": "refused", "changes": {}, "column": "Raum"},
        {"number": 0, "key": "m4", "outcome": "removed", "changes": {}},
    ],
}


@pytest.mark.parametrize("options", [[], ["--preview"], ["--preview", "--remove"]])
def test_an_inventory_is_told_row_by_row(file, monkeypatch, capsys, options):
    rows = [{"column": "", "refusal": None, **row} for row in TABLE["rows"]]
    rows[2]["refusal"] = {**NO, "message": "no such room"}
    told, busy = [], [httpx.Response(503, json=NO, headers={"Retry-After": "0"})]

    def answer(request):
        told.append((request.url.path, form(request.read())))
        return busy.pop() if busy else httpx.Response(200, json={**TABLE, "rows": rows})

    at_server(monkeypatch, httpx.MockTransport(answer))
    assert main(["inventory", str(file), *options]) == 0
    wanted = {name: str(f"--{name}" in options).lower() for name in ("preview", "remove")}
    assert told == [("/api/v1/inventory/", wanted)] * 2  # a table twice is the table once
    assert capsys.readouterr().out.splitlines() == [
        "line 2: changed m1 rid nothing → A",
        "line 4: refused m3 (Raum: no such room)",
        "not listed: removed m4",
        "machines: 1 changed, 1 removed, 1 refused",
        "not read: Colour",
        "preview: nothing was written",
    ]


def test_what_is_no_file_is_one_sentence(tmp_path, capsys):
    assert main(["import", str(tmp_path), "--preview"]) == 1
    assert "cannot be read: Is a directory" in capsys.readouterr().err
