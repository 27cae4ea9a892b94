"""A server of somebody else's: it takes calls, and fails as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """What was called, in order; `statuses` are the next answers, then 204."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict, bytes]] = []
        self.statuses: list[int] = []
        self.url = ""

    @property
    def bodies(self) -> list[dict]:
        return [json.loads(body) for _, _, body in self.calls]

    @property
    def rows(self) -> list[tuple[str, list]]:
        return [(body["change"], list(body["row"].values())) for body in self.bodies]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Serve on a free port."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.statuses.pop(0) if receiver.statuses else 204
            receiver.calls.append((self.path, dict(self.headers), body))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{receiver.url}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
