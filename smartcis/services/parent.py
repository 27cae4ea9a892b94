"""End with the parent process, also when it was killed and could say nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

LOOK_S = 0.5


def end_with_parent(parent: int, stop: Callable[[], object], patience_s: float) -> None:
    """Watches in a thread: when `parent` is no longer our parent, stop, and then end by force.

    Args:
        parent: process id of the parent.
        stop: asks this process to end.
        patience_s: how long after `stop` the whole process group is killed.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_S)
        threading.Thread(target=stop, daemon=True).start()  # may wait for a server that is gone
        time.sleep(patience_s)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
