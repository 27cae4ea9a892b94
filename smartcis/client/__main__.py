"""`python -m smartcis.client`: the command line."""

import sys

from smartcis.client.command_line import main

if __name__ == "__main__":
    sys.exit(main())
