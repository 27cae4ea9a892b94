"""Django settings; what a deployment may change comes from the environment.

| variable | default | meaning |
|---|---|---|
| SMARTCIS_VAR | ./var | where the product writes: database, secret key, Redis, checkpoints |
| DATABASE_URL | sqlite in SMARTCIS_VAR | any Django database |
| REDIS_URL | the embedded server | log, results, channel layer, Celery broker |
| MQTT_URL | none | broker that sensors publish to, e.g. mqtt://localhost:1883 |
| SMARTCIS_DEBUG | 0 | Django's debug pages |
| SMARTCIS_SECRET_KEY | made on the first run | signs sessions |
| SMARTCIS_HOSTS | localhost,127.0.0.1,[::1] | host names served |
| SMARTCIS_ORIGINS | none | further origins that may open the socket or post forms |
| SMARTCIS_NAME | smartcis | prefix of everything kept in Redis |
| SMARTCIS_OPEN_QUERIES | 1 | whether visitors may submit queries |
| SMARTCIS_QUERY_QUOTA | 5 | maintained queries per visitor's session |
| SMARTCIS_QUERY_STEPS | 1000000 | work a query or question may do in one epoch; 0: any |
| SMARTCIS_PLACEMENT | alone | queries in the network or not: judged alone, together, or off |
| SMARTCIS_NETWORK_JOINS | 0 | most joins in one piece inside the network; 0 for no limit |
| SMARTCIS_WEBHOOKS | none | URL prefixes that OUTPUT TO WEBHOOK may call |
| SMARTCIS_WEBHOOK_SECRET | made on the first run | signs the calls |
| SMARTCIS_PLACEMENT_WEIGHTS | the optimizer's | what that saves, e.g. energy=1,latency=0.0001 |
| SMARTCIS_ENGINE_MASTER | local[2,4] | Spark master |
| SMARTCIS_ENGINE_HOST | 127.0.0.1 | name by which Spark's executors reach the driver |
| SMARTCIS_ENGINE_LANES | 1 | lanes of the engine query |
| SMARTCIS_LOG_KEEP | 100000 | log entries kept when older ones are folded into one state |
| SMARTCIS_LOG_LEVEL | INFO | of what goes to standard error |
| SMARTCIS_SECURE | 0 | cookies and redirects for HTTPS only |
| SMARTCIS_PROXIES | 0 | proxies in front that set X-Forwarded-For |
| SMARTCIS_VITE_DEV | 0 | pages take their scripts from Vite's own server |
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import dj_database_url
import structlog

from smartcis.environment import flag, number, redis_url, secret_key, var_dir, words

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = var_dir(BASE_DIR)

DEBUG = flag("SMARTCIS_DEBUG", default=False)
SECRET_KEY = secret_key(VAR)
ALLOWED_HOSTS = words("SMARTCIS_HOSTS", default="localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = words("SMARTCIS_ORIGINS", default="")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "django_vite",
    "smartcis.apps.SmartCISConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "smartcis.security.ContentSecurityPolicy",  # before whitenoise: static pages have it too
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "smartcis.urls"
ASGI_APPLICATION = "smartcis.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
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

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = f"{NAME}:celery"
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
LOGIN_URL = "/admin/login/"
OPEN_QUERIES = flag("SMARTCIS_OPEN_QUERIES", default=True)
QUERY_QUOTA = number("SMARTCIS_QUERY_QUOTA", default=5)
QUERY_STEPS = number("SMARTCIS_QUERY_STEPS", default=1_000_000)
WEBHOOKS = words("SMARTCIS_WEBHOOKS", default="")
WEBHOOK_SECRET = secret_key(VAR, "webhook_secret")
PLACEMENT = os.environ.get("SMARTCIS_PLACEMENT", "alone")
NETWORK_JOINS = number("SMARTCIS_NETWORK_JOINS", default=0)
PLACEMENT_WEIGHTS = os.environ.get("SMARTCIS_PLACEMENT_WEIGHTS", "")
ROUTE_QUOTA = 8  # walks per browser, e.g. tabs
ROUTE_IDLE_S = 180  # a walker's page says it is alive every minute by its socket

SESSION_COOKIE_AGE = 30 * 24 * 3600
# Django's defaults forbid frames and sniffing, and keep referrers and cookies to this site.
if flag("SMARTCIS_SECURE", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# -- API -------------------------------------------------------------------------------------

BODY_LIMIT_BYTES = 1_000_000
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_LIMIT_BYTES

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",  # first: it is what a 401 asks for
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["smartcis.api.permissions.StaffOrReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["smartcis.api.parsers.StrictJSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "smartcis.api.pagination.Pages",
    "DEFAULT_SCHEMA_CLASS": "smartcis.api.schema.Described",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.ScopedRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {
        "queries": "60/min",
        "check": "300/min",
        "routes": "120/min",
        "visitors": "60/min",
        "why": "30/min",  # an answer may take the engine a few tenths of a second
    },
    # Proxies in front that set X-Forwarded-For; without one, nobody's own word is taken for it.
    "NUM_PROXIES": number("SMARTCIS_PROXIES", default=0),
    "EXCEPTION_HANDLER": "smartcis.api.problems.handle",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
REST_KNOX = {"TOKEN_TTL": None, "TOKEN_LIMIT_PER_USER": 20}

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "SmartCIS",
    "DESCRIPTION": "A building's sensors, machines, doors, calendars, queries and walking routes.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "POSTPROCESSING_HOOKS": [],  # choices stand where they are used, none needs a made-up name
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}

# -- pages -----------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"

FRONTEND_DIST = BASE_DIR / "frontend" / "dist"
STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # whitenoise warns about a missing one
STATICFILES_DIRS = [FRONTEND_DIST] if FRONTEND_DIST.exists() else []
WHITENOISE_USE_FINDERS = True  # a bare checkout serves without a collectstatic step
WHITENOISE_AUTOREFRESH = DEBUG
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
    "style-src-attr": ["'unsafe-inline'"],  # Leaflet and ECharts position their elements
    "img-src": ["'self'", "data:"],
    "connect-src": ["'self'"],
    "worker-src": ["'self'", "blob:"],
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
}

LOG_LEVEL = os.environ.get("SMARTCIS_LOG_LEVEL", "INFO")
structlog.configure(
    wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(LOG_LEVEL)),
    logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    cache_logger_on_first_use=False,
)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "httpx": {"level": "WARNING"},  # a line per poll of every source
    },
}
