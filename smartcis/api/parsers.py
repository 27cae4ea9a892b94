"""Parsing: JSON bodies of bounded size, without what no database can store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import JSONParser

from smartcis.errors import BodyTooLarge
from smartcis.json_text import decoded


class StrictJSONParser(JSONParser):
    """Reads JSON as every door does: see `smartcis.json_text`."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Parses a body.

        Raises:
            BodyTooLarge: more bytes than `BODY_LIMIT_BYTES`.
            BadJSON: not JSON that anybody can compute with.
        """
        del media_type, parser_context
        body = stream.read(settings.BODY_LIMIT_BYTES + 1)
        if len(body) > settings.BODY_LIMIT_BYTES:
            raise BodyTooLarge(f"the body is larger than {settings.BODY_LIMIT_BYTES} bytes")
        return decoded(body)
