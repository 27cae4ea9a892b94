"""What templates of pages need beside Django's own tags."""

from __future__ import annotations

from django import template
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django_vite.core.asset_loader import DjangoViteAssetLoader
from django_vite.core.exceptions import DjangoViteAssetNotFoundError, DjangoViteManifestError

from smartcis import sentences
from smartcis.noted_things import thing

register = template.Library()


@register.simple_tag
def sheet(path: str) -> str:
    """Returns the link to a style sheet of the front end; nothing where that is not built."""
    try:
        url = DjangoViteAssetLoader.instance().generate_vite_asset_url(path)
    except (DjangoViteAssetNotFoundError, DjangoViteManifestError):
        return ""
    return format_html('<link rel="stylesheet" href="{}">', url)


@register.filter
def role(user: AbstractBaseUser | AnonymousUser) -> str:
    """Returns what an account may do, in a word."""
    if getattr(user, "is_superuser", False):
        return _("administrator")
    return _("staff") if getattr(user, "is_staff", False) else _("account")


@register.filter
def translated(word: str) -> str:
    """Returns a word of the code, which data name, in the language of the page."""
    return _(word) if word else ""


register.filter(thing)


@register.filter
def sentence(said: str) -> str:
    """Returns a sentence of the engine, of an error or a reason, in the language of the page."""
    return sentences.translated(said) if said else ""
