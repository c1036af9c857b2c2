"""Trained weights that come with the package: NAME.json says what they are, and NAME.safetensors holds them.

What there is can be known without torch, which takes seconds to load; reading it is in training/pretrained.py.
"""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path


def weights_folder() -> Traversable:
    """Where they lie."""
    return resources.files(__name__)


def shipped_names() -> tuple[str, ...]:
    """What comes with this copy of the package."""
    files = (file.name for file in weights_folder().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in files if name.endswith(".json")))


def is_shipped(runs_dir: Path, name: str) -> bool:
    """Whether `name` means weights that are shipped; a run of the user's own that is called so comes first."""
    return name in shipped_names() and not (runs_dir / name).is_dir()
