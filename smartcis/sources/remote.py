"""Remote: an `Append` that hands batches to another installation over HTTP with a token."""

from __future__ import annotations

import uuid

import httpx

from aspen.errors import AspenError
from smartcis.catalog import CATALOG
from smartcis.json_text import decoded
from smartcis.outbound import body_of, calling
from smartcis.wrappers.errors import BadRow, LogAway
from smartcis.wrappers.protocol import Batch, Readings, StreamRows

DEADLINE_S = 10.0
ANSWER_BYTES = 100_000
ATTEMPTS = 3


class Remote:
    """The `Append` of one source of kind push over there.

    Args:
        url: of the installation, e.g. https://building.example.org.
        source: the source's id there.
        token: of the source's account.
    """

    def __init__(self, url: str, source: str, token: str) -> None:
        self._base = f"{url.rstrip('/')}/api/v1"
        self._source = source
        self._token = token

    def __call__(self, batch: Batch) -> int:
        """Hands a batch over; see `smartcis.wrappers.protocol.Append`.

        Raises:
            BadRow: refused over there, or not of a kind that is pushed.
            LogAway: no answer.
        """
        match batch:
            case Readings(key, readings):
                return self._post("readings/", list(readings), key)
            case StreamRows(key, relation, rows):
                names = CATALOG.get(relation).names
                objects = [dict(zip(names, row, strict=True)) for row in rows]
                body = {"relation": relation, "rows": objects}
                return self._post(f"feeds/{self._source}/rows/", body, key) if rows else 0
        raise BadRow("tables are not pushed", found=type(batch).__name__)

    def _post(self, path: str, body: object, key: str) -> int:
        # The same key for every attempt: a lost answer must not append twice.
        headers = {
            "Authorization": f"Token {self._token}",
            "Idempotency-Key": key or uuid.uuid4().hex,
        }
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                with (
                    calling(DEADLINE_S, listed=None) as client,
                    client.stream(
                        "POST", f"{self._base}/{path}", json=body, headers=headers
                    ) as answer,
                ):
                    said = body_of(answer, ANSWER_BYTES)
                if answer.status_code == httpx.codes.CREATED:
                    return int(decoded(said)["accepted"])
            except (AspenError, httpx.HTTPError, LookupError, TypeError, ValueError) as error:
                reason = str(error) or type(error).__name__
                continue
            if answer.is_client_error:
                words = said[:300].decode(errors="replace")
                raise BadRow(f"refused with {answer.status_code}: {words}")
            reason = f"{answer.status_code} {answer.reason_phrase}"
        raise LogAway(f"{self._base} does not answer: {reason}")
