"""Parsing: JSON bodies of bounded size, without what no database can store."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

from smartcis.json_text import unstorable


class BodyTooLarge(APIException):
    """A body beyond the limit."""

    status_code = 413
    default_code = "body_too_large"
    default_detail = "the body is too large"


class StrictJSONParser(JSONParser):
    """Reads JSON; refuses NaN, endless nesting and text that is not Unicode."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Parses a body.

        Raises:
            BodyTooLarge: more bytes than `BODY_LIMIT_BYTES`.
            ParseError: not JSON.
        """
        body = stream.read(settings.BODY_LIMIT_BYTES + 1)
        if len(body) > settings.BODY_LIMIT_BYTES:
            raise BodyTooLarge(f"the body is larger than {settings.BODY_LIMIT_BYTES} bytes")
        try:
            parsed = super().parse(io.BytesIO(body), media_type, parser_context)
        except RecursionError as error:
            raise ParseError("the JSON is nested too deeply") from error
        # Only escapes can smuggle these past UTF-8 decoding.
        escaped = rb"\ud" in body.lower() or rb"\u0000" in body
        if escaped and (fault := unstorable(parsed)):
            raise ParseError(f"the JSON holds {fault}")
        return parsed
