"""Which observers watch a run, and how often they speak. The .jsonl streams are always written."""

from dataclasses import dataclass

from respawn.errors import ConfigError


@dataclass(frozen=True)
class ObserversConfig:
    """Who watches."""

    console: bool = True
    """show progress: a live display on a terminal, plain lines elsewhere"""
    console_seconds: float = 5.0
    """seconds between plain lines where the output is not a terminal"""
    tensorboard: bool = True
    """write TensorBoard curves beside the .jsonl files"""
    tensorboard_seconds: float = 1.0
    """seconds between two updates that go to TensorBoard; updates.jsonl has them all"""

    def __post_init__(self) -> None:
        for name in ("console_seconds", "tensorboard_seconds"):
            seconds = getattr(self, name)
            if not 0 <= seconds < float("inf"):
                option = name.replace("_", "-")
                raise ConfigError(
                    f"observers.{option} should be 0 or more seconds, but is {seconds}; 0 means every update"
                )
