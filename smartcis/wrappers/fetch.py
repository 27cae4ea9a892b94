"""Fetch: a page over HTTP, asked for again only when it has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from aspen.errors import AspenError
from smartcis.outbound import body_of, calling
from smartcis.wrappers.errors import SourceDown, reason_of

DEADLINE_S = 15.0
REDIRECTS = 5
LARGEST_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """What an address answered.

    Args:
        text: the body.
        fresh: False where the server said that it has not changed.
    """

    text: str
    fresh: bool


def fetch(url: str, memory: dict[str, Any]) -> Page:
    """Fetches a page.

    Args:
        url: where from; redirects are followed.
        memory: ETag, date and body of the last answer; kept up to date.

    Raises:
        SourceDown: no whole answer in time, an error, more than eight megabytes, or an address
            that this server does not call.
    """
    headers = {}
    same = memory.get("url") == url and "body" in memory
    if same and memory.get("etag"):
        headers["If-None-Match"] = memory["etag"]
    if same and memory.get("modified"):
        headers["If-Modified-Since"] = memory["modified"]
    try:
        with (
            calling(DEADLINE_S, redirects=REDIRECTS) as client,
            client.stream("GET", url, headers=headers) as answer,
        ):
            if answer.status_code == httpx.codes.NOT_MODIFIED and same:
                return Page(str(memory["body"]), fresh=False)
            found = answer.status_code == httpx.codes.OK
            text = _text(answer) if found else ""
    except AspenError as fault:
        raise SourceDown(fault.message, found=fault.found, attempt=fault.attempt) from fault
    except (httpx.HTTPError, httpx.InvalidURL, LookupError, ValueError) as error:
        raise SourceDown(f"no answer: {reason_of(error)}") from error
    if not found:
        said = f"{answer.status_code} {answer.reason_phrase}".strip()
        raise SourceDown(f"the server answered {said}")
    fresh = not (same and memory["body"] == text)
    memory.update(
        url=url,
        etag=answer.headers.get("ETag", ""),
        modified=answer.headers.get("Last-Modified", ""),
        body=text,
    )
    return Page(text, fresh)


def _text(answer: httpx.Response) -> str:
    data = body_of(answer, LARGEST_BYTES)
    return storable(data.decode(answer.encoding or "utf-8", errors="replace"))


def storable(text: str) -> str:
    """Returns a text with marks in place of characters that no database keeps."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()
