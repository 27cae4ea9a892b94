"""REST: one call after another below /api/v1/, with a token, patience, and problems as exceptions.

What a refusal leads to:

429                        nothing was done: waits as long as Retry-After says, and repeats
503, no answer             repeats what may be done twice: reading, and what has a key
patience is over, others   Problem
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

import httpx

from smartcis.client.backoff import wait_s
from smartcis.client.problem import NoConnection, Problem
from smartcis.client.typed import typed

API = "/api/v1/"
TOO_MANY, UNAVAILABLE = 429, 503


@dataclass(frozen=True, slots=True)
class ListingPage:
    """A page of a listing; `next` is the address of the one behind it."""

    results: tuple[Mapping[str, Any], ...]
    next: str | None


class Rest:
    """The HTTP side of a server; keeps the session's cookie, which walks and queries belong to.

    Args:
        url: of the server, e.g. https://building.example.
        token: shown as `Authorization: Bearer`; None for a visitor.
        timeout_s: how long one answer may take.
        patience_s: how long a call is repeated in all.
        transport: of HTTP; None for the network.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        timeout_s: float,
        patience_s: float,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.api = API
        self.timeout_s = timeout_s
        self.patience_s = patience_s
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            self.http = httpx.Client(
                base_url=self.url, headers=headers, timeout=timeout_s, transport=transport
            )
        except (httpx.InvalidURL, UnicodeError) as fault:
            raise NoConnection(url, str(fault)) from fault

    def get(self, path: str, /, **parameters: Any) -> Any:
        """Returns the JSON below a path."""
        return self.call("GET", path, parameters=parameters, twice=True)

    def post(self, path: str, body: Any, *, twice: bool = False) -> Any:
        """Hands in JSON, and returns the JSON that answers."""
        return self.call("POST", path, body=body, twice=twice)

    def pages(self, path: str, /, **filters: Any) -> Iterator[Mapping[str, Any]]:
        """Walks a listing, page by page as it is read."""
        number = 1
        while True:
            page = typed(ListingPage, self.get(path, page=number, **filters))
            yield from page.results
            if page.next is None:
                return
            number += 1

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        parameters: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        twice: bool = False,
        lost: bool = False,
    ) -> Any:
        """Returns the JSON that answers a call, None where nothing does.

        Args:
            method: of HTTP.
            path: below /api/v1/.
            body: JSON, None for none.
            parameters: of the query string; those that are None are left out.
            headers: besides the client's own.
            twice: whether doing it twice is the same as once.
            lost: whether it is repeated also where no answer comes at all.

        Raises:
            Problem: the server refuses, or what answers is no SmartCIS.
            NoConnection: nobody answers.
        """
        asked = {name: value for name, value in (parameters or {}).items() if value is not None}
        content = {} if body is None else {"json": body}
        answer = self.send(
            self.http.build_request(
                method, API + path, params=asked or None, headers=headers, **content
            ),
            twice=twice,
            lost=lost,
        )
        return object_in(answer) if answer.content else None

    def send(
        self, request: httpx.Request, *, twice: bool = False, lost: bool = False
    ) -> httpx.Response:
        """Sends a request until it is answered well, refused, or patience is over.

        Raises:
            Problem, NoConnection: as of `call`.
        """
        began_s, attempt = monotonic(), 0
        while True:
            try:
                answer = self.http.send(request)
            except httpx.TransportError as fault:
                failure: Problem = NoConnection(self.url, str(fault) or type(fault).__name__)
                failure.__cause__ = fault
                pause_s = wait_s(attempt) if lost else None
            else:
                if answer.is_success:
                    return answer
                failure = problem_of(answer)
                again = failure.status == TOO_MANY or (twice and failure.status == UNAVAILABLE)
                pause_s = failure.retry_s if again else None
            spent_s = monotonic() - began_s
            if pause_s is None or spent_s + pause_s > self.patience_s:
                raise failure
            sleep(pause_s)
            attempt += 1

    def upload(self, path: str, file: Path, *, twice: bool = False, **fields: bool) -> Any:
        """Hands in a file as a form, and returns the JSON object that answers.

        Args:
            path: below /api/v1/.
            fields: of the form, besides the file.
            twice: as of `call`.

        Raises:
            Problem: the file cannot be opened, or is refused.
        """
        said = {name: "true" if value else "false" for name, value in fields.items()}
        try:
            with file.open("rb") as content:
                request = self.http.build_request(
                    "POST", API + path, files={"file": (file.name, content)}, data=said
                )
                answer = self.send(request, twice=twice)
        except OSError as fault:
            raise Problem(
                f"{file} cannot be read: {fault.strerror}",
                code="smartcis.client.no_file",
                attempt="bring a file; a folder as an archive",
            ) from fault
        return object_in(answer)

    def cookies_for(self, path: str) -> str:
        """Returns the cookies that a request to a path carries, as the header has them."""
        request = httpx.Request("GET", self.url + path)
        self.http.cookies.set_cookie_header(request)
        return str(request.headers.get("Cookie", ""))


def segment(name: str) -> str:
    """Returns a name as one segment of a path, whatever it holds."""
    return quote(name, safe="")


def object_in(answer: httpx.Response) -> dict[str, Any]:
    """Returns the JSON object that an answer holds.

    Raises:
        Problem: it holds none.
    """
    try:
        found = answer.json()
    except ValueError:
        raise _odd(answer) from None
    if not isinstance(found, dict):
        raise _odd(answer)
    return found


def problem_of(answer: httpx.Response) -> Problem:
    """Returns why a request was refused."""
    try:
        body = answer.json()
        problem = Problem.of({"status": answer.status_code, **body, "message": body["message"]})
    except (ValueError, TypeError, KeyError):
        return _odd(answer)
    after = answer.headers.get("Retry-After", "")
    if problem.retry_s is None and after.isdecimal():
        problem.retry_s = float(after)
    return problem


def _odd(answer: httpx.Response) -> Problem:
    return Problem(
        f"{answer.request.url} answers {answer.status_code}, and not as SmartCIS does",
        status=answer.status_code,
        code="smartcis.client.odd_answer",
        found=answer.text[:80],
        attempt="check the address",
    )
