"""Whether the compiled module does the work: on the CPU, where it was built. Everywhere else torch does."""

from types import ModuleType

import torch


def compiled(device: torch.device) -> ModuleType | None:
    """The module `_school` for fish on this device, or None."""
    if device.type != "cpu":
        return None
    try:
        from respawn.worlds.fish import _school
    except ImportError:  # not built here: slower, and the same to rounding
        return None
    return _school
