"""The language of pages and of REST: what was chosen in the header, else what the client prefers.

A program that prefers none is answered in English; metrics and descriptions are English for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Field
from django.http import HttpRequest, parse_cookie
from django.middleware.locale import LocaleMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.choices import CallableChoiceIterator
from django.utils.translation import get_language_from_request, gettext_lazy, override

PROGRAMS = ("/api/schema/", "/metrics")
ASKED_BY = "Accept-Language, Cookie"
NAMED = "language"
"""The parameter by which an address names its language: it is asked for without cookies."""


class PageLanguage(LocaleMiddleware):
    """Django's own, but for programs; a thread goes back to English when it has answered."""

    async_capable = False

    def __call__(self, request: HttpRequest) -> Any:
        """Answers the request in its language."""
        with override(settings.LANGUAGE_CODE):
            if request.path.startswith(PROGRAMS):
                return self.get_response(request)
            answer: Any = super().__call__(request)
        patch_vary_headers(answer, ("Cookie",))
        return answer


def named_language(request: HttpRequest) -> str:
    """Returns the language that the request's address names, else the one it is answered in."""
    named = request.GET.get(NAMED, "")
    return named if named in dict(settings.LANGUAGES) else str(request.LANGUAGE_CODE)


def language_of(scope: Mapping[str, Any]) -> str:
    """Returns the language that a connection asks for, by the rule of pages."""
    asked = HttpRequest()
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    asked.COOKIES = parse_cookie(headers.get(b"cookie", ""))
    asked.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", "")
    return get_language_from_request(asked)


def translate_tables() -> None:
    """Has what tables, their fields and choices are called said in the language of the page.

    Most of it is what Django makes of names in the code. It is wrapped here, once for all tables,
    and migrations see no difference: they compare what is said in no language.
    """
    for model in apps.get_app_config("smartcis").get_models():
        about = model._meta  # noqa: SLF001  # public despite its name
        about.verbose_name = gettext_lazy(str(about.verbose_name))
        about.verbose_name_plural = gettext_lazy(str(about.verbose_name_plural))
        for field in about.get_fields():
            if isinstance(field, Field):
                field.verbose_name = gettext_lazy(str(field.verbose_name))
                if field.help_text:
                    field.help_text = gettext_lazy(str(field.help_text))
                if field.choices and not isinstance(field.choices, CallableChoiceIterator):
                    field.choices = [
                        (value, gettext_lazy(str(said))) for value, said in field.choices
                    ]
