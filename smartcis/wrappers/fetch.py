"""Fetch: a page over HTTP, asked for again only when it has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from smartcis.wrappers.errors import SourceDown, reason_of

TIMEOUT_S = 10.0
LARGEST_BYTES = 8_000_000
AGENT = "SmartCIS"


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
        SourceDown: no answer, an error, or more than eight megabytes.
    """
    headers = {"User-Agent": AGENT}
    same = memory.get("url") == url and "body" in memory
    if same and memory.get("etag"):
        headers["If-None-Match"] = memory["etag"]
    if same and memory.get("modified"):
        headers["If-Modified-Since"] = memory["modified"]
    try:
        with (
            httpx.Client(timeout=TIMEOUT_S, follow_redirects=True) as client,
            client.stream("GET", url, headers=headers) as answer,
        ):
            if answer.status_code == httpx.codes.NOT_MODIFIED and same:
                return Page(str(memory["body"]), fresh=False)
            if answer.status_code != httpx.codes.OK:
                raise SourceDown(
                    f"the server answered {answer.status_code} {answer.reason_phrase}".strip()
                )
            data = bytearray()
            for part in answer.iter_bytes():
                data += part
                if len(data) > LARGEST_BYTES:
                    raise SourceDown(f"the answer is larger than {LARGEST_BYTES} bytes")
            text = data.decode(answer.encoding or "utf-8", errors="replace")
    except (httpx.HTTPError, httpx.InvalidURL, LookupError) as error:
        raise SourceDown(f"no answer: {reason_of(error)}") from error
    fresh = not (same and memory["body"] == text)
    memory.update(
        url=url,
        etag=answer.headers.get("ETag", ""),
        modified=answer.headers.get("Last-Modified", ""),
        body=text,
    )
    return Page(text, fresh)
