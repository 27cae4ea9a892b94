"""Tables: the building and what stands in it, requests, queries, and the outbox to the log."""

from smartcis.models.accesses import StaffAccess
from smartcis.models.alarms import Alarm, AlarmEvent, WatchedKey
from smartcis.models.building import Building, Door, Level, Unit, Venue
from smartcis.models.calendar import Reservation
from smartcis.models.changes import ChangeRecord
from smartcis.models.deliveries import Delivery, Outlet, ToldRow
from smartcis.models.described import DescribedPoint
from smartcis.models.destinations import Destination
from smartcis.models.devices import SeenDevice, SourceMapping
from smartcis.models.equipment import Desk, Kiosk, Machine, SoftwareInstall
from smartcis.models.imports import BuildingImport
from smartcis.models.outbox import LogLink, OutboxEntry
from smartcis.models.own_tables import OwnRelation, OwnRow
from smartcis.models.placements import NetworkPiece, NetworkState, Placement
from smartcis.models.queries import MaintainedQuery, MaintainedView
from smartcis.models.read_policies import ReadPolicy
from smartcis.models.refused import RefusedMessage
from smartcis.models.routes import RouteRequest, RouteRule
from smartcis.models.routing import RoutingEdge, RoutingNode
from smartcis.models.sensor_kinds import SensorKind
from smartcis.models.sensors import RegionSeed, Sensor
from smartcis.models.tokens import AccessToken
from smartcis.models.visitors import Visitor
from smartcis.models.wrapped import Source, SourceRow, SourceState
