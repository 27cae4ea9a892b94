"""Lanes that take over from another number of lanes: what lanes say of themselves is told anew."""

from __future__ import annotations

from runtime.test_system import entry
from spark.test_lane_processor import Worker, first_batch

from aspen.log.entry import Tick, encode
from aspen.results.wire import decode_changes
from aspen.runtime.outcome import merge_parts

BY_VIEW = "SELECT q.view, q.state, q.lane FROM sys.queries q"


def test_the_first_batch_that_is_told_ends_and_opens_them():
    watch = encode(entry("watch", BY_VIEW))
    told = len(first_batch()) + 1
    lanes = [Worker(lanes=2, number=number, published=told) for number in range(2)]
    folded = []
    for data in ([*first_batch(), watch], [encode(Tick(1.0))], [encode(Tick(2.0))]):
        rows = [lane.run(data) for lane in lanes]
        for lane, row in zip(lanes, rows, strict=True):
            lane.accept(row)
        merged = merge_parts(decode_changes(row.parts) for row in rows)
        folded.append([change for change in merged if change.view == "watch"])
    silent, first, second = folded
    assert silent == []
    assert [change.closed for change in first] == [True, False]
    assert {row[-1] for row in first[1].delta} == {0, 1}
    held = [next(iter(lane.residents[0].values())).lane.rows("watch") for lane in lanes]
    assert first[1].delta == {**held[0], **held[1]}
    assert second == []
