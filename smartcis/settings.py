"""Django settings; what a deployment may change comes from the environment.

| variable | default | meaning |
|---|---|---|
| SMARTCIS_VAR | ./var | what the product writes, closed to others: database, keys, Redis, … |
| DATABASE_URL | sqlite in SMARTCIS_VAR | any Django database |
| SMARTCIS_TABLE_FOLDERS | tables in SMARTCIS_VAR | whose SQLite and recordings sources may read |
| SMARTCIS_TOKEN_… | none | what a source shows that is set up with env:SMARTCIS_TOKEN_… |
| REDIS_URL | the embedded server | log, results, channel layer, Celery broker |
| MQTT_URL | none | broker that sensors publish to, e.g. mqtt://localhost:1883 |
| SMARTCIS_DEBUG | 0 | Django's debug pages |
| SMARTCIS_SECRET_KEY | made on the first run | signs sessions |
| SMARTCIS_HOSTS | localhost,127.0.0.1,[::1] | host names served |
| SMARTCIS_ORIGINS | none | further origins that may open the socket or post forms |
| SMARTCIS_CORS | none | origins whose pages may call the API, with a token and without cookies |
| SMARTCIS_NAME | smartcis | prefix of everything kept in Redis |
| SMARTCIS_OPEN_QUERIES | 1 | whether visitors may query: submit, check, ask why, follow queries |
| SMARTCIS_QUOTA_… | see QUOTAS | how much one may hold at once: QUERIES, WALKS, SOCKETS, … |
| SMARTCIS_RATE_… | see RATES | how much one may do in a minute: QUERIES, CHECK, WHY, ROWS, … |
| SMARTCIS_SHARES | account=50,browser=10,address=30 | percent of a core, beside others; 0: any |
| SMARTCIS_QUERY_STEPS | 300000 | work a query may do in one epoch, the first included; 0: any |
| SMARTCIS_QUERY_ROWS | 100000 | rows of a query; 0: any |
| SMARTCIS_QUERY_MIB | 100 | what its operators may hold; 0: any |
| SMARTCIS_QUESTION_STEPS | 1000000 | work of a one-time query or question; 0: any |
| SMARTCIS_QUESTION_MS | 800 | processor time of one; 0: any |
| SMARTCIS_PLACEMENT | alone | queries in the network or not: judged alone, together, or off |
| SMARTCIS_NETWORK_JOINS | 0 | most joins in one piece inside the network; 0 for no limit |
| SMARTCIS_NETWORKS | none | private networks that sources and webhooks may call: 10.1.0.0/16,… |
| SMARTCIS_WEBHOOKS | none | URL prefixes that OUTPUT TO WEBHOOK may call |
| SMARTCIS_WEBHOOK_SECRET | made on the first run | signs the calls |
| SMARTCIS_EMAIL | off | how alarms send e-mail: smtp://user:password@host, smtps://…, console |
| SMARTCIS_EMAIL_FROM | smartcis@localhost | whom it says it is from |
| SMARTCIS_EMAIL_LANGUAGE | en | what language it is in: en or de |
| SMARTCIS_EMAIL_TO | none | who may be written to: house@example.org,@example.org |
| SMARTCIS_URL | none | the address people open, for links in e-mails |
| SMARTCIS_ALARM_DAYS | 90 | how long alarms that were cleared are kept |
| SMARTCIS_PLACEMENT_WEIGHTS | the optimizer's | what that saves, e.g. energy=1,latency=0.0001 |
| SMARTCIS_ENGINE_MASTER | local[2,4] | Spark master |
| SMARTCIS_ENGINE_HOST | 127.0.0.1 | name by which Spark's executors reach the driver |
| SMARTCIS_ENGINE_LANES | 1 | lanes of the engine query |
| SMARTCIS_ENGINE_STANDBYS | 1 | engines that wait with Spark ready; 0: a dead one is started anew |
| SMARTCIS_STARTING_S | 900 | how long a process may take to begin, an engine until Spark is ready |
| SMARTCIS_ENGINE_FIRST_EPOCH_S | 1800 | and from then on until its first epoch; idle a fifth |
| SMARTCIS_ENGINE_STALLED_S | 120 | later, how long idle with work; computing: five times as long |
| SMARTCIS_ENGINE_SILENT_S | 15 | how long it may say nothing, once Spark is ready |
| SMARTCIS_ANSWER_S | 5 | how long whoever asks the engine waits for its answer |
| SMARTCIS_SPARK_UI | 0 | port of Spark's own pages, on 127.0.0.1; 0: none |
| SMARTCIS_LOG_KEEP | 100000 | log entries kept when older ones are folded into one state |
| SMARTCIS_LOG_LEVEL | INFO | of what goes to standard error; DEBUG has a line for each epoch |
| SMARTCIS_LOG_FORMAT | text | or json: an object a line, with request, query and epoch |
| SMARTCIS_SECURE | 0 | cookies and redirects for HTTPS only |
| SMARTCIS_METRICS | none | networks that may read /metrics without a token: 10.0.0.9,fd00::/8 |
| SMARTCIS_PROXIES | none | trusted proxies, whose X-Forwarded-For is believed: 10.0.0.2,fd00::/8 |
| SMARTCIS_URL | as the page was asked for | where phones reach this server, for QR codes |
| SMARTCIS_VITE_DEV | 0 | pages take their scripts from Vite's own server |
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from smartcis.environment import (
    broker_url,
    email,
    flag,
    limits,
    networks,
    number,
    redis_url,
    secret_key,
    var_dir,
    words,
)
from smartcis.log_lines import logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = var_dir(BASE_DIR)

DEBUG = flag("SMARTCIS_DEBUG", default=False)
SECRET_KEY = secret_key(VAR)
ALLOWED_HOSTS = words("SMARTCIS_HOSTS", default="localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = words("SMARTCIS_ORIGINS", default="")

INSTALLED_APPS = [
    "smartcis.apps.HouseAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "corsheaders",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_vite",
    "smartcis.apps.SmartCISConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "smartcis.security.ContentSecurityPolicy",  # before whitenoise: static pages have it too
    "corsheaders.middleware.CorsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "smartcis.language.PageLanguage",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "smartcis.accounts.SeenAsVisitor",
    "smartcis.fair_share.Standing",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "smartcis.api.parameters.KnownParameters",
]

ROOT_URLCONF = "smartcis.urls"
ASGI_APPLICATION = "smartcis.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "smartcis" / "templates"],  # before those of the admin
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# -- data ------------------------------------------------------------------------------------

DATABASES: dict[str, Any] = {
    "default": dj_database_url.config(
        default=f"sqlite:///{VAR / 'smartcis.sqlite3'}", conn_max_age=60
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        # A transaction takes the write lock when it begins: one that reads first and writes
        # later would otherwise fail at once instead of waiting.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
        ),
    }
    # A file per test run: in memory, threads would share one cache and its table locks.
    DATABASES["default"]["TEST"] = {
        "NAME": Path(tempfile.gettempdir()) / f"smartcis-test-{os.getpid()}.sqlite3"
    }

TABLE_FOLDERS = words("SMARTCIS_TABLE_FOLDERS", default=str(VAR / "tables"))

REDIS_URL = redis_url(VAR)
NAME = os.environ.get("SMARTCIS_NAME", "smartcis")
LOG_NAME = NAME  # the log's keys begin `smartcis:log`
RESULTS_NAME = NAME  # the results' begin `smartcis:results`

MQTT_URL = os.environ.get("MQTT_URL", "")

CHANNEL_LAYERS: dict[str, Any] = {
    "default": {
        # PubSub rather than lists: nothing piles up for a consumer that is gone.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": f"{NAME}:channels"},
    }
}

CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = f"{NAME}:celery"
# What waits for somebody else's computer is done by a worker of its own, whose processes may be
# killed: time, outbox and the engine's supervision never stand behind it.
SOURCES_QUEUE = f"{NAME}:sources"
WAITING = "poll_source send_deliveries read_import write_import take_back_import"
CELERY_TASK_ROUTES = {f"smartcis.{task}": {"queue": SOURCES_QUEUE} for task in WAITING.split()}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": f"{NAME}:"}
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# -- engine ----------------------------------------------------------------------------------

# Two cores are what the demo counts on; four attempts, so that a killed worker costs one task
# and not the whole query.
ENGINE_MASTER = os.environ.get("SMARTCIS_ENGINE_MASTER", "local[2,4]")
ENGINE_HOST = os.environ.get("SMARTCIS_ENGINE_HOST", "127.0.0.1")
ENGINE_LANES = number("SMARTCIS_ENGINE_LANES", default=1)
ENGINE_STANDBYS = number("SMARTCIS_ENGINE_STANDBYS", default=1)
# Whoever is slow is not taken for dead: no limit but the first counts before Spark is ready.
STARTING_S = number("SMARTCIS_STARTING_S", default=900)
ENGINE_FIRST_EPOCH_S = number("SMARTCIS_ENGINE_FIRST_EPOCH_S", default=1_800)
ENGINE_STALLED_S = number("SMARTCIS_ENGINE_STALLED_S", default=120)
ENGINE_SILENT_S = number("SMARTCIS_ENGINE_SILENT_S", default=15)
ANSWER_S = number("SMARTCIS_ANSWER_S", default=5)
SPARK_UI = number("SMARTCIS_SPARK_UI", default=0)
LOG_KEEP_ENTRIES = number("SMARTCIS_LOG_KEEP", default=100_000)
ENGINE_CHECKPOINT = VAR / "checkpoint"

# -- people ----------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/login/"
CSRF_FAILURE_VIEW = "smartcis.pages.forged"
OPEN_QUERIES = flag("SMARTCIS_OPEN_QUERIES", default=True)
# The first evaluation of a query holds everybody's epoch. The largest example, walks from every
# kiosk of the building, takes 254,000 steps, a seventh of a second.
QUERY_STEPS = number("SMARTCIS_QUERY_STEPS", default=300_000)
QUERY_ROWS = number("SMARTCIS_QUERY_ROWS", default=100_000)
QUERY_BYTES = number("SMARTCIS_QUERY_MIB", default=100) << 20
QUESTION_STEPS = number("SMARTCIS_QUESTION_STEPS", default=1_000_000)
QUESTION_MS = number("SMARTCIS_QUESTION_MS", default=800)
NETWORKS = networks("SMARTCIS_NETWORKS")
WEBHOOKS = words("SMARTCIS_WEBHOOKS", default="")
WEBHOOK_SECRET = secret_key(VAR, "webhook_secret")
EMAIL = email("SMARTCIS_EMAIL")
globals().update(EMAIL)  # Django's own names; without any, nothing is sent
EMAIL_TIMEOUT = 10
EMAIL_LANGUAGE = os.environ.get("SMARTCIS_EMAIL_LANGUAGE", "en")
EMAIL_TO = [word.lower() for word in words("SMARTCIS_EMAIL_TO", default="")]
DEFAULT_FROM_EMAIL = os.environ.get("SMARTCIS_EMAIL_FROM", "smartcis@localhost")
PUBLIC_URL = os.environ.get("SMARTCIS_URL", "").rstrip("/")
ALARM_DAYS = number("SMARTCIS_ALARM_DAYS", default=90)
PLACEMENT = os.environ.get("SMARTCIS_PLACEMENT", "alone")
NETWORK_JOINS = number("SMARTCIS_NETWORK_JOINS", default=0)
PLACEMENT_WEIGHTS = os.environ.get("SMARTCIS_PLACEMENT_WEIGHTS", "")
ROUTE_IDLE_S = 180  # a walker's page says it is alive every minute by its socket

# -- limits ----------------------------------------------------------------------------------

# Each is set like SMARTCIS_QUOTA_SOCKETS="browser=20,address=2000"; what is left out stays, 0 is
# any number. `browser` is a visitor's, and one for all of an address who send no cookie; accounts
# count by themselves and in all, staff by rates alone (`smartcis/access/limits.py`).
# An address may be a lecture hall behind one NAT: 200 people who come within a minute, each with a
# map or two (a socket, 25 subscriptions, a dozen requests), a walk, and a query now and then.
QUOTAS = {
    name: limits(f"SMARTCIS_QUOTA_{name.upper()}", default=default)
    for name, default in {
        "queries": "account=20,browser=5,address=200,all=2000",
        "walks": "browser=8,address=600,all=3000",
        "sockets": "account=32,browser=16,address=1200,all=5000",
        "subscriptions": "account=1024,browser=512,address=30000,all=100000",
    }.items()
}
RATES = {
    name: limits(f"SMARTCIS_RATE_{name.upper()}", default=default)
    for name, default in {
        "requests": "account=6000,browser=1200,address=12000,all=60000",
        "queries": "account=120,browser=60,address=600,all=1800",
        "check": "account=600,browser=300,address=3000,all=6000",
        "why": "account=60,browser=30,address=300,all=600",  # tenths of an engine's second each
        "routes": "account=240,browser=120,address=2400,all=6000",
        "visitors": "account=120,browser=60,address=600,all=3000",
        "logins": "account=10,address=60",  # tries; whoever guesses ten a minute needs a lifetime
        "browsers": "account=0,browser=0,address=600,all=6000",
        "sockets": "account=240,browser=120,address=2400,all=12000",
        "subscriptions": "account=2000,browser=1000,address=30000,all=120000",
        "rows": "account=2000000,browser=1000000,address=10000000,all=30000000",
        "bytes": "account=500000000,browser=200000000,address=2000000000,all=6000000000",
    }.items()
}
SHARES = limits("SMARTCIS_SHARES", default="account=50,browser=10,address=30")
if "SMARTCIS_QUERY_QUOTA" in os.environ:
    raise ImproperlyConfigured(
        "SMARTCIS_QUERY_QUOTA is now SMARTCIS_QUOTA_QUERIES, e.g. account=20,browser=5"
    )
PROXIES = networks("SMARTCIS_PROXIES")
METRICS = networks("SMARTCIS_METRICS")

SESSION_COOKIE_AGE = 30 * 24 * 3600
# Django's defaults forbid frames and sniffing, and keep referrers and cookies to this site.
if flag("SMARTCIS_SECURE", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^metrics$"]  # whoever collects them sits beside the server
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
# Both would bind other servers of the operator's domain, which know nothing of this one.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# -- API -------------------------------------------------------------------------------------

BODY_LIMIT_BYTES = 1_000_000
UPLOAD_LIMIT_BYTES = 100_000_000  # of a building's file, from staff
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_LIMIT_BYTES

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "smartcis.api.tokens.AccessTokens",  # first: it is what a 401 asks for
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["smartcis.api.permissions.StaffOrReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["smartcis.api.parsers.StrictJSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "smartcis.api.pagination.Pages",
    "DEFAULT_METADATA_CLASS": None,  # the OpenAPI document describes; OPTIONS is for CORS alone
    "DEFAULT_SCHEMA_CLASS": "smartcis.api.schema.Described",
    "DEFAULT_THROTTLE_CLASSES": ["smartcis.api.throttles.Rates"],
    "EXCEPTION_HANDLER": "smartcis.api.problems.handle",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

# Other people's pages call with a token, never with our cookies.
CORS_ALLOWED_ORIGINS = words("SMARTCIS_CORS", default="")
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = ["accept", "authorization", "content-type", "idempotency-key", "visitor-code"]
CORS_EXPOSE_HEADERS = ["content-disposition", "etag", "retry-after", "www-authenticate"]

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "SmartCIS",
    "DESCRIPTION": "A building's sensors, machines, doors, calendars, queries and walking routes.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": False},  # its links would lie within buttons
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "POSTPROCESSING_HOOKS": ["smartcis.api.schema.completed"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}

# -- pages -----------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "smartcis" / "locale"]  # before Django's own words
TIME_ZONE = "UTC"

PUBLIC_URL = os.environ.get("SMARTCIS_URL", "").rstrip("/")
FRONTEND_DIST = BASE_DIR / "frontend" / "dist"
STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # whitenoise warns about a missing one
STATICFILES_DIRS = [FRONTEND_DIST] if FRONTEND_DIST.exists() else []
WHITENOISE_USE_FINDERS = True  # a bare checkout serves without a collectstatic step
WHITENOISE_AUTOREFRESH = DEBUG
# Vite's names say the content.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/assets/.+-[\w-]{8}\.\w+$"
DJANGO_VITE = {
    "default": {
        "dev_mode": flag("SMARTCIS_VITE_DEV", default=False),
        "manifest_path": FRONTEND_DIST / "manifest.json",
    }
}

# Only what the pages need; a nonce per response stands for the styles the editor creates.
CONTENT_SECURITY_POLICY = {
    "default-src": ["'self'"],
    "script-src": ["'self'"],
    "style-src": ["'self'", "'nonce-{nonce}'"],
    "img-src": ["'self'", "data:", "blob:"],
    "connect-src": ["'self'"],
    "worker-src": ["'self'", "blob:"],
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
}

LOGGING = logging_settings()
