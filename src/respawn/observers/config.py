"""Which observers watch a run, and how often they speak. The .jsonl streams are always written."""

from dataclasses import dataclass

from respawn.contracts.settings import check_at_least


@dataclass(frozen=True)
class ObserversConfig:
    """Who watches."""

    console: bool = True
    """show progress: a live display on a terminal, plain lines elsewhere"""
    console_seconds: float = 5.0
    """seconds between plain lines where the output is not a terminal; 0: every update"""
    tensorboard: bool = True
    """write TensorBoard curves beside the .jsonl files"""
    tensorboard_seconds: float = 1.0
    """seconds between two updates that go to TensorBoard; 0: all; updates.jsonl has them all either way"""

    figures: bool = True
    """fish: draw all figures and write all artefacts when the run ends; 'respawn plot' does it at any time"""

    def __post_init__(self) -> None:
        """Refuse what is no span of time."""
        check_at_least("observers.", self, {"console_seconds": 0, "tensorboard_seconds": 0})
