"""What is set aside is not walked; its garbage goes once there is enough of it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

WORLD = """
    import gc, weakref
    from aspen.runtime.collector import SetAside

    class Ring:
        def __init__(self):
            self.me = self

    aside = SetAside(look_every=2)
    kept = [[n] for n in range(100_000)]
"""


def said(story: str) -> list[str]:
    """Let a process of its own tell: freezing is for a whole process."""
    program = textwrap.dedent(WORLD) + textwrap.dedent(story)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_what_an_epoch_leaves_is_not_walked_again():
    story = """
        before = len(gc.get_objects())
        aside.all()
        print(before > 100_000, len(gc.get_objects()) < 1_000, gc.get_freeze_count() > 100_000)
        young = [[] for _ in range(10)]
        print(len(gc.get_objects()) < 1_000)
    """
    assert said(story) == ["True"] * 4


def test_garbage_among_it_goes_once_it_has_grown():
    story = """
        print(aside.all(), aside.all(), aside.objects > 100_000)
        ring = weakref.ref(Ring())
        print(aside.all(), aside.all(), ring() is None)
        rings = [Ring() for _ in range(80_000)]
        aside.all()
        del rings
        print(aside.all(), ring() is None)
        print(gc.get_freeze_count() < 1.2 * aside.objects, len(kept))
    """
    steady, small, grown, after = ["False", "False", "True"], ["False"] * 3, ["True"] * 2, ["True"]
    assert said(story) == [*steady, *small, *grown, *after, "100000"]
