"""What one client has been told: epochs that had to wait are summed, and their number is said."""

from __future__ import annotations

from aspen.results.protocol import Epoch, EpochSnapshot, ViewChange
from smartcis.live import protocol
from smartcis.live.subscription import WAITING_AT_LEAST, Subscription
from smartcis.live.views import KEEP_EPOCHS, FoldedView, History

COLUMNS = (("a", "INT", ""),)
ROUTES = (("n", "INT", ""), ("session", "TEXT", ""))


class Story:
    """A view, its history, and one client of it."""

    def __init__(self, columns=COLUMNS, rows=((0,),), allowed=None) -> None:
        self.view, self.history, self.wakes = FoldedView("v"), History(), 0
        self.view.load(EpochSnapshot("v", 0, 0, 0.0, columns, dict.fromkeys(rows, 1)))
        self.client = self.follow(None, allowed)

    def follow(self, since, allowed=None):
        client = Subscription(1, "v", self.view, allowed, self.wake, self.history.net)
        client.begin(since)
        return client

    def wake(self) -> None:
        self.wakes += 1

    def change(self, delta, **more) -> None:
        number = self.history.head + 1
        change = ViewChange("v", delta, **more)
        epoch = Epoch(number, number, float(number), (change,))
        self.history.add(epoch)
        self.view.stamp(epoch)
        self.view.apply(change)
        self.client.heard(epoch, change)
        return epoch

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


def test_what_waits_is_summed_when_it_can_be_sent(monkeypatch):
    story = Story()
    story.told()
    asked = []
    net = story.client._net
    monkeypatch.setattr(story.client, "_net", lambda *given: asked.append(given) or net(*given))
    for number in (1, 2, 3):
        story.change({(number,): 1, (number - 1,): -1})
    assert asked == []  # who does not read costs nothing but that it is noted
    (delta,) = story.client.take()
    assert (delta.prev, delta.epoch, delta.merged) == (0, 3, 3)
    assert sorted(delta.changes) == [(-1, 0), (1, 3)]
    assert asked == [("v", 0, 3)]


def test_what_came_and_went_while_it_waited_is_not_told():
    story = Story()
    story.told()
    story.change({(1,): 1})
    story.change({(1,): -1})
    assert story.client.take() == []
    assert not story.client.waits
    story.change({(2,): 1})
    (delta,) = story.client.take()
    assert (delta.prev, delta.epoch, delta.merged, delta.changes) == (0, 3, 1, [(1, 2)])


def test_who_waited_longer_than_epochs_are_kept_is_sent_the_whole():
    story = Story()
    story.told()
    for number in range(1, KEEP_EPOCHS + 3):
        story.change({(number,): 1, (number - 1,): -1})
    (snapshot,) = story.client.take()
    assert isinstance(snapshot, protocol.Snapshot)
    assert rows_of([snapshot]) == [(KEEP_EPOCHS + 2,)]


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
    assert story.told() == [(protocol.Snapshot, 0)], "it came back before its end was told"


def test_a_view_that_rests_until_it_hears_of_its_first_follower_has_not_ended():
    story = Story()
    story.change({}, closed=True)
    waiting = Subscription(2, "v", story.view, None, story.wake, story.history.net, on_demand=True)
    story.client = waiting
    waiting.begin(None)
    story.change({}, closed=True)
    assert not waiting.waits
    story.change({(7,): 1}, columns=COLUMNS)
    assert story.told() == [(protocol.Snapshot, 0)]
    story.change({}, closed=True)
    assert [type(message) for message in waiting.take()] == [protocol.Closed]


def rows_of(messages):
    """Returns what a page shows after some messages: whole rows, or changes with their weights."""
    found = []
    for message in messages:
        match message:
            case protocol.Snapshot():
                found += [tuple(row) for row in message.rows]
            case protocol.Delta():
                found += [tuple(row) for row in message.changes]
    return found


def test_a_browser_that_resumes_is_sent_its_own_route_and_nobody_elses():
    """Whatever was missed: another visitor's rows are in the history of the same view."""
    story = Story(ROUTES, ((1, "mine"), (2, "theirs")), frozenset({"mine"}))
    assert rows_of(story.client.take()) == [(1, "mine")]
    story.change({(3, "theirs"): 1, (2, "theirs"): -1})
    story.change({(4, "mine"): 1})
    for since in (0, 1, 2):
        again = story.follow(since, frozenset({"mine"})).take()
        assert [type(message) for message in again] == [protocol.Snapshot]
        assert rows_of(again) == [(1, "mine"), (4, "mine")]
        assert rows_of(story.follow(since, frozenset()).take()) == []
    # Staff sees all rows, and is sent what it missed.
    (delta,) = story.follow(1).take()
    assert delta.changes == [(1, 4, "mine")]
    assert (delta.prev, delta.epoch) == (1, 2)


def test_a_client_is_sent_only_its_own_rows_of_an_epoch():
    story = Story(ROUTES, (), frozenset({"mine"}))
    story.client.take()
    wakes = story.wakes
    story.change({(3, "theirs"): 1})
    assert not story.client.waits
    assert story.wakes == wakes
    story.change({(5, "theirs"): 1, (4, "mine"): 1})
    assert rows_of(story.client.take()) == [(1, 4, "mine")]


def test_a_second_route_of_the_same_browser_is_shown_by_a_snapshot():
    story = Story(ROUTES, ((1, "mine"), (2, "also mine"), (3, "theirs")), frozenset({"mine"}))
    assert rows_of(story.client.take()) == [(1, "mine")]
    story.client.allow(frozenset({"mine"}))
    assert not story.client.waits  # nothing new may be seen
    story.client.allow(frozenset({"also mine"}))
    # Never narrowed: the rows of a route that has ended must still be deleted.
    assert rows_of(story.client.take()) == [(1, "mine"), (2, "also mine")]
    story.change({(1, "mine"): -1})
    assert rows_of(story.client.take()) == [(-1, 1, "mine")]


def test_a_view_without_owners_is_not_sent_again_for_a_new_route():
    story = Story(allowed=None)
    story.client.take()
    story.client.allow(frozenset({"mine", "also mine"}))
    assert not story.client.waits


def test_of_rows_that_name_no_owner_nobody_is_one():
    story = Story(allowed=frozenset({"mine"}))
    assert rows_of(story.client.take()) == []
    story.change({(1,): 1})
    assert not story.client.waits


def test_an_epoch_in_which_the_view_ended_or_failed_is_not_resumed_over():
    for more in ({"closed": True}, {"columns": COLUMNS}, {"error": {"code": "x.y", "message": ""}}):
        story = Story()
        story.change({(1,): 1})
        story.change({}, **more)
        sent = [type(m) for m in story.follow(1).take()]
        assert protocol.Delta not in sent, more
        assert (protocol.Closed in sent) == ("closed" in more)
        assert (protocol.WireError in sent) == ("error" in more)
        story.change({(2,): 1}, columns=COLUMNS)
        story.change({(3,): 1})
        assert [type(m) for m in story.follow(1).take()] == [protocol.Snapshot], more
        assert [type(m) for m in story.follow(3).take()] == [protocol.Delta]


def test_a_view_that_ends_again_says_so_again():
    story = Story()
    story.client.take()
    for _ in range(2):
        story.change({}, closed=True)
        assert [type(m) for m in story.client.take()] == [protocol.Closed]
        story.change({}, closed=True)
        assert not story.client.waits
        story.change({(2,): 1}, columns=COLUMNS)
        assert [type(m) for m in story.client.take()] == [protocol.Snapshot]


def test_history_gives_the_net_of_the_epochs_asked_for_and_of_no_others():
    story = Story()
    for number in range(1, 5):
        story.change({(number,): 1, (0,): -1})
    net = story.history.net
    assert net("v", 0, 4) == ({(n,): 1 for n in range(1, 5)} | {(0,): -4}, 4)
    assert net("v", 1, 3) == ({(2,): 1, (3,): 1, (0,): -2}, 2)
    assert net("v", 3, 3) == ({}, 0)
    assert net("other", 0, 4) == ({}, 0)
    assert net("v", 0, 5) is None
    assert History(7).net("v", 7, 7) == ({}, 0)
    assert History(7).net("v", 6, 7) is None


def test_a_client_from_the_future_is_sent_everything():
    story = Story()
    story.change({(1,): 1})
    assert [type(m) for m in story.follow(7).take()] == [protocol.Snapshot]


def test_the_hub_starting_over_sends_nothing_that_waited():
    story = Story()
    story.client.take()
    story.change({(1,): 1})
    story.view.load(EpochSnapshot("v", 9, 9, 9.0, COLUMNS, {(5,): 2}))
    story.client.reload()
    assert rows_of(story.client.take()) == [(5,), (5,)]
    story.change({(1,): 1})
    story.view.forget()
    story.client.reload()
    story.client.reload()
    assert [type(m) for m in story.client.take()] == [protocol.Closed]
    story.view.load(EpochSnapshot("v", 11, 11, 11.0, COLUMNS, {(6,): 1}))
    story.client.reload()
    story.view.forget()
    story.client.reload()
    assert [type(m) for m in story.client.take()] == [protocol.Closed]


def test_the_hub_starting_over_does_not_end_what_has_not_begun():
    story = Story()
    story.view.forget()
    early = story.follow(None)
    early.reload()
    assert not early.waits
    story.view.load(EpochSnapshot("v", 9, 9, 9.0, COLUMNS, {(5,): 1}))
    early.reload()
    assert [type(m) for m in early.take()] == [protocol.Snapshot]


def test_what_comes_while_a_snapshot_waits_is_part_of_it_and_not_sent_twice():
    story = Story()
    story.change({(1,): 1})
    assert rows_of(story.client.take()) == [(0,), (1,)]
    assert not story.client.waits
    story.change({(1,): -1})
    (delta,) = story.client.take()
    assert (delta.prev, delta.epoch, delta.changes) == (1, 2, [(-1, 1)])


def test_a_snapshot_says_since_when_the_view_is_complete_and_another_that_it_is():
    story = Story()
    story.client.take()
    since_s = 1_763_900_000.25
    story.change({(1,): 1}, columns=COLUMNS, complete_since_s=since_s)
    (told,) = story.client.take()
    assert told.complete_since_s == since_s
    story.change({(2,): 1})
    (told,) = story.follow(None).take()
    assert told.complete_since_s == since_s
    story.change({}, columns=COLUMNS)
    (told,) = story.client.take()
    assert (told.complete_since_s, told.rows) == (None, [[0], [1], [2]])
