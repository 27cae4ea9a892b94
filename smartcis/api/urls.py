"""Paths below /api/."""

from __future__ import annotations

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from smartcis.api import (
    alarms,
    building,
    building_export,
    deliveries,
    destinations,
    devices,
    doors,
    examples,
    explain,
    feeds,
    hours,
    house,
    imports,
    inventory,
    kiosks,
    levels,
    machines,
    operations,
    placements,
    points,
    queries,
    query_limits,
    query_rows,
    questions,
    reservations,
    rooms,
    routes,
    sensors,
    socket,
    visitors,
)
from smartcis.api.problems import nothing_here

router = SimpleRouter(use_regex_path=False)
router.register("v1/levels", levels.Levels)
router.register("v1/rooms", rooms.Rooms)
router.register("v1/doors", doors.Doors)
router.register("v1/machines", machines.Machines)
router.register("v1/kiosks", kiosks.Kiosks)
router.register("v1/sensors", sensors.Sensors)
router.register("v1/destinations", destinations.Destinations)
router.register("v1/routes", routes.Routes, basename="route")

urlpatterns = [
    re_path(r"\0", nothing_here),  # nothing has such a name, and PostgreSQL takes none
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", house.Docs.as_view(url_name="schema"), name="docs"),
    path("v1/building/", building.BuildingView.as_view()),
    path("v1/building/export/", building_export.BuildingExport.as_view(), name="building-export"),
    path("v1/levels/<str:level_id>/plan/", building.PlanView.as_view()),
    path("v1/sources/", house.Sources.as_view()),
    path("v1/status/", house.StatusView.as_view()),
    path("v1/processes/", operations.Processes.as_view()),
    path("v1/left-out/", operations.LeftOutList.as_view()),
    path("v1/left-out/<str:position>/", operations.LeftOutDetail.as_view()),
    path("v1/me/", house.Me.as_view()),
    path("v1/asyncapi.json", socket.SocketDescription.as_view(), name="asyncapi"),
    *router.urls,
    path("v1/alarms/", alarms.Alarms.as_view()),
    path("v1/alarms/<int:alarm_id>/", alarms.AlarmDetail.as_view()),
    path("v1/reservations/", reservations.AllReservations.as_view()),
    path("v1/rooms/<str:rid>/reservations/", reservations.Reservations.as_view()),
    path(
        "v1/rooms/<str:rid>/reservations/<int:reservation_id>/",
        reservations.ReservationDetail.as_view(),
    ),
    path("v1/sensors/<str:sid>/hour/", hours.SensorHour.as_view()),
    path("v1/readings/", feeds.ReadingList.as_view()),
    path("v1/feeds/", feeds.Feeds.as_view()),
    path("v1/feeds/<str:source>/", feeds.Feed.as_view()),
    path("v1/feeds/<str:source>/mappings/", devices.FeedMappings.as_view()),
    path("v1/feeds/<str:source>/devices/", devices.FeedDevices.as_view()),
    path("v1/feeds/<str:source>/devices/<int:device_id>/", devices.FeedDevice.as_view()),
    path("v1/feeds/<str:source>/points/", points.FeedPoints.as_view()),
    path("v1/feeds/<str:source>/points/place/", points.FeedPointsPlace.as_view()),
    path("v1/feeds/<str:source>/rows/", feeds.FeedRows.as_view()),
    path("v1/feeds/<str:source>/refused/", feeds.FeedRefused.as_view()),
    path("v1/imports/", imports.Imports.as_view()),
    path("v1/imports/<int:number>/", imports.ImportDetail.as_view()),
    path("v1/imports/<int:number>/accept/", imports.ImportAccept.as_view()),
    path("v1/imports/<int:number>/undo/", imports.ImportUndo.as_view()),
    path("v1/inventory/", inventory.Inventory.as_view()),
    path("v1/queries/", queries.QueryList.as_view()),
    path("v1/queries/check/", queries.QueryCheck.as_view()),
    path("v1/queries/explain/", explain.QueryExplain.as_view()),
    path("v1/queries/why/", questions.QueryWhy.as_view()),
    path("v1/queries/why-not/", questions.QueryWhyNot.as_view()),
    path("v1/queries/what-if/", questions.QueryWhatIf.as_view()),
    path("v1/queries/weak-points/", questions.QueryWeakPoints.as_view()),
    path("v1/queries/examples/", examples.QueryExamples.as_view()),
    path("v1/queries/limits/", query_limits.QueryLimits.as_view()),
    path("v1/queries/<str:query_id>/", queries.QueryDetail.as_view()),
    path("v1/queries/<str:query_id>/rows/", query_rows.QueryRows.as_view()),
    path("v1/queries/<str:query_id>/deliveries/", deliveries.Deliveries.as_view()),
    path("v1/queries/<str:query_id>/placement/", placements.QueryPlacement.as_view()),
    path("v1/visitors/policy/", visitors.VisitorPolicy.as_view()),
    path("v1/visitors/card/", visitors.VisitorCard.as_view()),
    path("v1/visitors/me/", visitors.VisitorMe.as_view()),
    re_path(r"", nothing_here),
]
