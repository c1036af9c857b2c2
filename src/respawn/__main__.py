"""`python -m respawn`."""

import sys

from respawn.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
