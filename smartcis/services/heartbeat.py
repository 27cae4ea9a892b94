"""Heartbeat: a process tells its supervisor that it still turns.

Over a pipe it inherits, and not in a file or in Redis: it beats on while disks are full and servers
are away, and notices when nobody listens any more. Whoever has no supervisor beats in vain.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

PIPE_VARIABLE = "SMARTCIS_HEARTBEAT"
FAREWELL_S = 10.0  # the kernel asked us to end when our supervisor did; so long we may take

_alone_since: float | None = None


def beat() -> None:
    """Tells the supervisor, if there is one, that this process is not stuck."""
    global _alone_since  # noqa: PLW0603  # one pipe per process
    pipe = os.environ.get(PIPE_VARIABLE)
    if not pipe:
        return
    try:
        with suppress(BlockingIOError):  # it has not listened for long
            os.write(int(pipe), b".")
    except BrokenPipeError:
        now = time.monotonic()
        _alone_since = now if _alone_since is None else _alone_since
        if now - _alone_since > FAREWELL_S:
            signal.raise_signal(signal.SIGKILL)
