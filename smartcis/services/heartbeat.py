"""Heartbeat: a process tells its supervisor that it still turns.

Over a pipe it inherits, and not in a file or in Redis: it beats on while disks are full and servers
are away. Where nobody listens any more it ends, whatever it waits for. Whoever has no supervisor
beats in vain.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from contextlib import suppress

PIPE_VARIABLE = "SMARTCIS_HEARTBEAT"
FAREWELL_S = 10.0  # the kernel asked us to end when our supervisor did; so long we may take

_watched = False


def beat() -> None:
    """Tells the supervisor, if there is one, that this process is not stuck."""
    global _watched  # noqa: PLW0603  # one pipe per process
    pipe = os.environ.get(PIPE_VARIABLE)
    if not pipe:
        return
    if not _watched:
        _watched = True
        threading.Thread(
            target=_end_when_alone, args=(int(pipe),), name="alone-watch", daemon=True
        ).start()
    with suppress(BlockingIOError, BrokenPipeError):  # it has not listened for long, or is gone
        os.write(int(pipe), b".")


def _end_when_alone(pipe: int) -> None:
    poll = select.poll()
    poll.register(pipe, 0)  # that nobody reads from it any more is told anyway
    poll.poll()
    time.sleep(FAREWELL_S)
    os.kill(os.getpid(), signal.SIGKILL)
