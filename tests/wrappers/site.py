"""A small web server that shows what the test tells it, answers like a real one, and can go."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """One page at `/`, with an ETag; `bodies` counts answers that carried one."""

    def __init__(self) -> None:
        self.page = ""
        self.status = 200
        self.bodies = 0
        self.asked = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked += 1
                body = site.page.encode()
                tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
                if site.status == 200 and self.headers.get("If-None-Match") == tag:
                    self.send_response(304)
                    self.send_header("ETag", tag)
                    self.end_headers()
                    return
                site.bodies += 1
                self.send_response(site.status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", tag)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args) -> None:
                pass

        self._handler = Handler
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def go(self) -> None:
        """Be gone: connections are refused from now on."""
        self._server.shutdown()
        self._server.server_close()

    def come_back(self) -> None:
        """Answer again at the same address."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler)
        self._serve()
