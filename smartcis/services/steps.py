"""Progress of a start: each step on a line, with the seconds since the beginning and its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Steps:
    """Prints the steps of a start.

    Args:
        write: prints one line.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._began = time.monotonic()

    @contextmanager
    def step(self, what: str) -> Iterator[Callable[[str], None]]:
        """Announces a step and, at its end, how long it took.

        Yields:
            A function that takes what came of it.
        """
        results: list[str] = []
        began = time.monotonic()
        self.say(f"{what} …")
        yield results.append
        took_s = time.monotonic() - began
        result = f": {results[-1]}" if results else ""
        self.say(f"{what} done in {took_s:.1f} s{result}")

    def say(self, line: str) -> None:
        """Prints a line with the seconds since the start."""
        self._write(f"{time.monotonic() - self._began:6.1f} s  {line}")
