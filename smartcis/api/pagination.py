"""Pagination of listings."""

from __future__ import annotations

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """`?page=2&page_size=500`."""

    page_size = 200
    page_size_query_param = "page_size"
    max_page_size = 1_000
