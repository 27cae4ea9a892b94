"""Marks: what every list says about where a row comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest

# Django's classes take type arguments only for the type checker.
if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
    Table = admin.TabularInline[Any, Any]
    Form = forms.ModelForm[Any]
else:
    Page, Table, Form = admin.ModelAdmin, admin.TabularInline, forms.ModelForm


@admin.display(description="origin", ordering="simulated")
def simulated_mark(row: Any) -> str:
    """Marks a row as simulated."""
    return "simulated" if row.simulated else "entered"


@admin.display(description="origin", ordering="derived")
def derived_mark(row: Any) -> str:
    """Marks a row as derived from the drawing."""
    return "derived" if row.derived else "drawn"


class ReadOnly(Page):
    """A table that only imports write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuses."""
        del request
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        """Refuses; viewing needs the view permission."""
        del request, obj
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        """Refuses."""
        del request, obj
        return False
