"""Everything this package raises on purpose.

A message says what was expected, what came, and what to do. `exit_code` is what the command line answers with:
2 when the person at the keyboard can mend it, 1 when the run itself failed.
"""


class RespawnError(Exception):
    """The root of all deliberate errors."""

    exit_code = 1


class ConfigError(RespawnError):
    """The run cannot start as configured."""

    exit_code = 2


class KnobError(ConfigError):
    """A knob has no consumer, two owners, or a value out of range."""


class RunFolderError(RespawnError):
    """A run folder is missing, in use, or not what a run folder looks like."""

    exit_code = 2


class CheckpointError(RespawnError):
    """A checkpoint is missing, damaged, or made by something else than what wants to read it."""

    exit_code = 2


class CheckpointAccessError(CheckpointError):
    """A checkpoint may well be whole, but this program or this user cannot read it."""


class CheckpointWriteError(RespawnError):
    """A checkpoint could not be written; those before it are untouched."""


class LearningError(RespawnError):
    """An update made numbers that nothing can be learned from; it was not saved."""


class MemoryLimitError(RespawnError):
    """A GPU's memory does not suffice, and there is nothing left to make smaller."""


class WorldError(RespawnError):
    """A world misbehaved: it failed, or broke its contract, while a run depended on it."""


class WorkerError(WorldError):
    """A worker process hung, died or raised more often than allowed."""


class ObserverError(RespawnError):
    """An observer failed; the training it watched did not."""


class StudyError(RespawnError):
    """A sweep's study cannot be gone on with, or none of its trials came to anything."""


class RomError(RespawnError):
    """There is no ROM, or it is not the one that is needed, or not one at all."""

    exit_code = 2


class MovieError(RespawnError):
    """A controller movie cannot be read, or asks for what the console does not have."""

    exit_code = 2


class VideoError(RespawnError):
    """A film or a figure cannot be made, or cannot be shown here."""

    exit_code = 2
