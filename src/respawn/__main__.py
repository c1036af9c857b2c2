"""`python -m respawn`."""

from respawn.cli.main import main_and_leave

if __name__ == "__main__":
    main_and_leave()
