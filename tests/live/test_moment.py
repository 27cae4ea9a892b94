"""A moment: what a client is told belongs together, however epochs fall between its messages."""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st

from aspen.results.protocol import Epoch, EpochSnapshot, ViewChange
from smartcis.live import protocol
from smartcis.live.moment import Moment
from smartcis.live.subscription import Subscription
from smartcis.live.views import FoldedView, History

COLUMNS = (("a", "INT", ""),)
VIEWS = ("v", "w", "x")
STATUS = protocol.Status("live", 0, 0, 0.0, 0.0, more=False)


class House:
    """Three views, and one client of them that shows what it has when no more follows."""

    def __init__(self) -> None:
        self.history = History()
        self.views = {name: FoldedView(name) for name in VIEWS}
        for view in self.views.values():
            view.load(EpochSnapshot(view.name, 0, 0, 0.0, COLUMNS, {(0,): 1}))
        self.subscriptions = {
            number: Subscription(number, name, view, None, lambda: None, self.history.net)
            for number, (name, view) in enumerate(self.views.items())
        }
        self.moment = Moment(self.subscriptions)
        self.has = {number: {} for number in self.subscriptions}
        for one in self.subscriptions.values():
            one.begin(None)

    def epoch(self, deltas) -> None:
        number = self.history.head + 1
        changes = tuple(ViewChange(VIEWS[i], delta) for i, delta in deltas.items())
        epoch = Epoch(number, number, float(number), changes)
        self.history.add(epoch)
        for view in self.views.values():
            view.stamp(epoch)
        for change in changes:
            self.views[change.view].apply(change)
            self.subscriptions[VIEWS.index(change.view)].heard(epoch, change)

    def hear(self, message) -> None:
        match message:
            case protocol.Snapshot():
                self.has[message.id] = {tuple(row): 1 for row in message.rows}
            case protocol.Delta():
                for weight, *row in message.changes:
                    held = self.has[message.id].get(tuple(row), 0) + weight
                    self.has[message.id][tuple(row)] = held

    def agrees(self) -> bool:
        shown = [{row for row, weight in rows.items() if weight} for rows in self.has.values()]
        return shown == [set(view.rows) for view in self.views.values()]


def toggles(house: House, deltas) -> dict:
    """Rows that come where they are not and go where they are."""
    return {
        i: {(n,): -1 if (n,) in house.views[VIEWS[i]].rows else 1 for n in numbers}
        for i, numbers in deltas.items()
    }


DELTAS = st.dictionaries(st.integers(0, 2), st.sets(st.integers(0, 3), min_size=1), min_size=1)


@given(st.lists(st.lists(st.lists(DELTAS, max_size=2), max_size=6), min_size=1, max_size=6))
def test_what_no_more_follows_is_of_one_epoch(rounds):
    """Each round sends once; before each message, and after the last, epochs may pass."""
    house = House()
    for between in rounds:
        epochs = iter(between)
        house_messages = house.moment.messages()
        while True:
            for deltas in next(epochs, ()):
                house.epoch(toggles(house, deltas))
            message = next(house_messages, None)
            if message is None:
                break
            house.hear(message)
            assert message.more or house.agrees()
            event(f"more: {message.more}")
    while any(one.waits for one in house.subscriptions.values()):
        for message in house.moment.messages():
            house.hear(message)
    ended = house.moment.status(STATUS)
    assert house.agrees()
    assert not ended.more


def test_a_moment_of_which_nothing_follows_is_ended_by_the_heartbeat():
    house = House()
    for message in house.moment.messages():
        house.hear(message)
    house.epoch({0: {(1,): 1}, 1: {(1,): 1}})
    messages = house.moment.messages()
    first = next(messages)
    assert first.more
    house.epoch({1: {(1,): -1}})  # what waited is taken back before its turn
    house.hear(first)
    assert list(messages) == []
    assert house.moment.dangling
    assert not house.moment.status(STATUS).more
    assert not house.moment.dangling
    assert house.agrees()


def test_a_heartbeat_in_the_middle_ends_nothing():
    house = House()
    messages = house.moment.messages()
    assert next(messages).more
    assert house.moment.status(STATUS).more
