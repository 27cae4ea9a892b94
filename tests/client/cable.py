"""A cable between a client and a server, which can be cut."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Cable:
    """A TCP relay on a port of its own.

    Args:
        address: host and port of the server, joined by a colon.
        cut_answers: so many connections are cut at the first byte the server answers.
    """

    def __init__(self, address: str, *, cut_answers: int = 0) -> None:
        host, _, port = address.partition(":")
        self.target = (host, int(port))
        self.cut_answers = cut_answers
        self.unplugged = False
        self.ends: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def cut(self) -> None:
        """Cut everything that is connected; who comes again is let through."""
        ends, self.ends = self.ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                near, _ = self.listener.accept()
                if self.unplugged:
                    near.close()
                    continue
                far = socket.create_connection(self.target)
                self.ends += [near, far]
                threading.Thread(target=self._carry, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._carry, args=(far, near, True), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:  # noqa: FBT001
        with suppress(OSError):
            while data := source.recv(65_536):
                if answers and self.cut_answers > 0:
                    self.cut_answers -= 1
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
