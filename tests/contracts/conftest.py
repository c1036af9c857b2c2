"""Makes the environments of tests/worlds importable here too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "worlds"))
