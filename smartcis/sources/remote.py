"""Remote: an `Append` that hands batches to another installation over HTTP with a token."""

from __future__ import annotations

import uuid

import httpx

from smartcis.catalog import CATALOG
from smartcis.wrappers.errors import BadRow, LogAway
from smartcis.wrappers.protocol import Arrivals, Batch, Readings

TIMEOUT_S = 10.0
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
        self._client = httpx.Client(timeout=TIMEOUT_S, headers={"Authorization": f"Token {token}"})

    def __call__(self, batch: Batch) -> int:
        """Hands a batch over; see `smartcis.wrappers.protocol.Append`.

        Raises:
            BadRow: refused over there, or not of a kind that is pushed.
            LogAway: no answer.
        """
        match batch:
            case Readings(key, readings):
                return self._post("readings/", list(readings), key)
            case Arrivals(key, relation, rows):
                names = CATALOG.get(relation).names
                objects = [dict(zip(names, row, strict=True)) for row in rows]
                body = {"relation": relation, "rows": objects}
                return self._post(f"feeds/{self._source}/rows/", body, key) if rows else 0
        raise BadRow("tables are not pushed", found=type(batch).__name__)

    def _post(self, path: str, body: object, key: str) -> int:
        # The same key for every attempt: a lost answer must not append twice.
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                answer = self._client.post(f"{self._base}/{path}", json=body, headers=headers)
            except httpx.HTTPError as error:
                reason = str(error) or type(error).__name__
                continue
            if answer.status_code == httpx.codes.CREATED:
                return int(answer.json()["accepted"])
            if answer.is_client_error:
                said = answer.text[:300]
                raise BadRow(f"refused with {answer.status_code}: {said}")
            reason = f"{answer.status_code} {answer.reason_phrase}"
        raise LogAway(f"{self._base} does not answer: {reason}")
