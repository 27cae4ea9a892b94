"""Routes of the web: pages, REST, admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.i18n import set_language

from smartcis import accounts, pages
from smartcis.api.metrics import Metrics

urlpatterns = [
    path("", pages.map_page, name="map"),
    path("queries/", pages.queries_page, name="queries"),
    path("queries/<str:query_id>/", pages.query_page, name="query"),
    path("kiosk/<slug:kiosk_id>/", pages.kiosk_page, name="kiosk"),
    path("editor/", pages.editor_page, name="editor"),
    path("offline/", pages.offline_page, name="offline"),
    path("manifest.webmanifest", pages.manifest, name="manifest"),
    path("sw.js", pages.service_worker, name="service-worker"),
    path("qr.svg", pages.qr_code, name="qr"),
    path("login/", accounts.SignIn.as_view(), name="login"),
    path("logout/", accounts.SignOut.as_view(), name="logout"),
    path("language/", set_language, name="language"),
    path("as-visitor/", accounts.AsVisitor.as_view(), name="as-visitor"),
    path("admin/", admin.site.urls),
    path("metrics", Metrics.as_view()),
    path("api/", include("smartcis.api.urls")),
]
handler400 = "smartcis.pages.malformed"
handler403 = "smartcis.pages.forbidden"
handler404 = "smartcis.pages.not_found"
handler500 = "smartcis.pages.failed"
