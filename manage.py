#!/usr/bin/env python
"""Django's command line for SmartCIS; a server that is away is a sentence, not a traceback."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError
from redis import RedisError

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartcis.settings")
    try:
        execute_from_command_line(sys.argv)
    except (OperationalError, ProgrammingError, RedisError) as away:
        if "--traceback" in sys.argv:
            raise
        which = "Redis" if isinstance(away, RedisError) else "the database"
        said = (str(away).strip().splitlines() or [type(away).__name__])[0]
        hint = "REDIS_URL" if which == "Redis" else "DATABASE_URL, or manage.py migrate"
        sys.exit(f"{which} does not do what is needed: {said} (see {hint}; --traceback for all)")
