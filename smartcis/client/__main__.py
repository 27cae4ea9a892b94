"""`python -m smartcis.client` is the command `smartcis`."""

import sys

from smartcis.client.command_line import main

if __name__ == "__main__":
    sys.exit(main())
