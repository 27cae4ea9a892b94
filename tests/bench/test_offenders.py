"""The bench of offenders: what it compares, and what it notes of the offender's answers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import httpx

from tests.bench.offences import OFFENCES, Offender
from tests.bench.offenders import Slice, _compared
from tests.bench.report import Target


def test_the_quiet_before_and_after_is_what_counts():
    before, after = Slice([10.0] * 20, [100.0]), Slice([10.0] * 20, [100.0])
    found = _compared(before, Slice([10.0] * 18 + [30.0] * 2, []), after)
    assert found["read_ratio"] == 3.0
    assert found["heard_ratio"] is None  # nothing reached anybody
    assert not Target("changes", found["heard_ratio"], 1.25, "").met


def test_an_offender_notes_what_he_is_told(monkeypatch):
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return httpx.Response(200, json={"results": []})
        return httpx.Response(429, json={"code": "c", "message": "too much"})

    async def story() -> Offender:
        rig = SimpleNamespace(url="http://127.0.0.1:1")
        monkeypatch.setattr(httpx, "AsyncHTTPTransport", lambda **_: httpx.MockTransport(answer))
        offender = Offender(rig)
        async with offender.trying(OFFENCES["cross_join"]):
            await asyncio.sleep(0.2)
        return offender

    offender = asyncio.run(story())
    assert set(offender.told) == {"429 c: too much"}
    assert 10 <= offender.attempts <= 100
