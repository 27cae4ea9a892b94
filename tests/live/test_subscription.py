"""What one client has been told: epochs that had to wait are summed, and their number is said."""

from __future__ import annotations

from aspen.results.protocol import Epoch, Snapshot, ViewChange
from smartcis.live import protocol
from smartcis.live.subscription import WAITING_AT_LEAST, Subscription
from smartcis.live.views import FoldedView, History

COLUMNS = (("a", "INT", ""),)


class Story:
    """A view, its history, and one client of it."""

    def __init__(self) -> None:
        self.view, self.history = FoldedView("v"), History()
        self.view.load(Snapshot("v", 0, 0, 0.0, COLUMNS, {(0,): 1}))
        self.client = self.follow(None)

    def follow(self, since):
        client = Subscription(1, "v", self.view, None, lambda: None)
        client.begin(self.history, since)
        return client

    def change(self, delta, **more) -> None:
        number = self.history.head + 1
        change = ViewChange("v", delta, **more)
        epoch = Epoch(number, number, float(number), (change,))
        self.history.add(epoch)
        self.view.stamp(epoch)
        self.view.apply(change)
        self.client.heard(epoch, change)

    def told(self, client=None):
        return [
            (type(m), m.merged)
            for m in (client or self.client).take()
            if not isinstance(m, protocol.Closed)
        ]


def test_epochs_that_waited_are_counted():
    story = Story()
    assert story.told() == [(protocol.Snapshot, 0)]
    story.change({(1,): 1})
    assert story.told() == [(protocol.Delta, 1)]
    for number in (2, 3, 4):
        story.change({(number,): 1})
    assert story.told() == [(protocol.Delta, 3)]
    story.change({(5,): 1})
    assert story.told() == [(protocol.Delta, 1)]


def test_a_snapshot_says_how_many_epochs_it_stands_for():
    story = Story()
    story.told()
    many = range(1, 2 + WAITING_AT_LEAST)
    story.change({(number,): 1 for number in many})
    assert story.told() == [(protocol.Delta, 1)]
    story.change({(0,): 1})
    story.change({(number,): -1 for number in many})
    assert story.told() == [(protocol.Snapshot, 2)]


def test_what_was_missed_while_away_is_counted():
    story = Story()
    for number in (1, 2, 3):
        story.change({(number,): 1})
    assert story.told(story.follow(1)) == [(protocol.Delta, 2)]
    assert story.told(story.follow(3)) == [(protocol.Delta, 0)]


def test_a_view_that_begins_anew_merged_nothing():
    story = Story()
    story.told()
    story.change({(1,): 1})
    story.change({}, closed=True)
    story.change({(7,): 1}, columns=COLUMNS)
    assert story.told()[-1] == (protocol.Snapshot, 0)
