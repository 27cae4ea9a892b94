"""A store is handed over from where it stands, and from nowhere else."""

from __future__ import annotations

import secrets

import pytest

from aspen.results import RedisResults
from aspen.results.protocol import Savepoint, ViewChange
from aspen.results.wire import FencedOff, NotThere


@pytest.fixture
def store(redis_url):
    made = RedisResults(redis_url, f"test-{secrets.token_hex(6)}", fence=2)
    for batch in range(3):
        made.write("old", batch, 10 + batch, 1.0, [ViewChange("v", {(batch,): 1})], {})
    return made


def test_rows_and_epochs_go_on_under_the_new_generation(store):
    store.hand_over(Savepoint("old", 12), "new", 4)
    store.hand_over(Savepoint("old", 12), "new", 4)
    assert store.writer() == ("new", 4)
    assert store.write("new", 5, 13, 2.0, [ViewChange("v", {(0,): -1})], {}) == 4
    assert store.write("new", 5, 13, 2.0, [ViewChange("v", {(0,): -1})], {}) == 4, "once"
    assert dict(store.snapshot("v").rows) == {(1,): 1, (2,): 1}
    assert [epoch.number for epoch in store.epochs_since(0, 0)] == [1, 2, 3, 4]


def test_a_batch_number_of_the_old_generation_is_not_taken_for_one_of_the_new(store):
    store.hand_over(Savepoint("old", 12), "new", -1)
    assert store.write("new", 0, 13, 2.0, [ViewChange("v", {(9,): 1})], {}) == 4
    assert (9,) in store.snapshot("v").rows


@pytest.mark.parametrize("savepoint", [Savepoint("old", 11), Savepoint("other", 12)])
def test_a_store_that_stands_elsewhere_is_left_alone(store, savepoint):
    with pytest.raises(NotThere):
        store.hand_over(savepoint, "new", 0)
    assert store.writer() == ("old", 2)


def test_an_old_token_takes_nothing_over(store, redis_url):
    name = store._keys.meta.removesuffix(":results:meta")
    late = RedisResults(redis_url, name, fence=1)
    with pytest.raises(FencedOff):
        late.hand_over(Savepoint("old", 12), "new", 0)
