"""The bench of offenders: what it compares, and what it notes of the offender's answers."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter

import httpx
import pytest

from tests.bench.apart import Apart
from tests.bench.offences import AT_ONCE, BREATH_S, Offender
from tests.bench.offenders import Slice, compared
from tests.bench.people import Met
from tests.bench.report import Target


def met(read_ms: list[float], heard_ms: list[float] | None = None) -> Slice:
    return Slice(Met(read_ms), Met(heard_ms or []))


def test_all_quiet_slices_are_compared_with_all_loud_ones():
    quiet = [met([10.0] * 20, [100.0]), met([12.0] * 20, [100.0])]
    found = compared(quiet, [met([12.0] * 18 + [36.0] * 2)])
    assert found["read_ratio"] == 3.0
    assert found["read_noise"] == 1.2
    assert found["heard_ratio"] is None  # nothing reached anybody
    assert not Target("changes", found["heard_ratio"], 1.25, "").met


def test_what_failed_in_loud_slices_is_told():
    failed = Slice(Met([1.0], Counter({"503": 2})), Met([1.0], Counter({"503": 1})))
    assert compared([met([1.0], [1.0])], [failed])["failed"] == {"503": 3}


def test_an_offender_notes_what_he_is_told(monkeypatch):
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return httpx.Response(200, json={"results": []})
        return httpx.Response(429, json={"code": "c", "message": "too much"})

    async def story() -> tuple[float, int, dict[str, int]]:
        monkeypatch.setattr(httpx, "AsyncHTTPTransport", lambda **_: httpx.MockTransport(answer))
        offender = Offender("http://127.0.0.1:1", "cross_join")
        began = time.monotonic()
        await offender.begin()
        while offender.attempts < 3 * AT_ONCE:  # noqa: ASYNC110  # it has no event for it
            await asyncio.sleep(0.01)
        await offender.rest()
        return time.monotonic() - began, *await offender.said()

    took_s, attempts, told = asyncio.run(story())
    assert set(told) == {"429 c: too much"}
    assert attempts <= AT_ONCE * (1 + took_s / BREATH_S)


class Adder:
    def __init__(self, first: int) -> None:
        self.total = first

    async def add(self, number: int) -> tuple[int, int]:
        if number < 0:
            raise ValueError("no less than nothing")
        self.total += number
        return os.getpid(), self.total


def test_what_is_apart_lives_in_another_process_and_raises_here():
    async def story() -> None:
        async with Apart(Adder, 40) as adder:
            pid, _ = await adder.call("add", 1)
            assert pid != os.getpid()
            with pytest.raises(ValueError, match="no less"):
                await adder.call("add", -1)
            assert await adder.call("add", 1) == (pid, 42)

    asyncio.run(story())
