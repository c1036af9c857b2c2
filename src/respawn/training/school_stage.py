"""Where trained schools of fish are watched: the tanks that they are judged in, and the policy that swims there."""

from collections.abc import Sequence
from dataclasses import replace

from torch import Generator

from respawn.contracts.knobs import Knobs
from respawn.evaluation.fish_evaluator import SCHOOLS_AT_A_TIME, judging_knobs
from respawn.evaluation.school_recordings import SchoolRecording, record_schools
from respawn.evaluation.schools import SchoolRecord, play_schools
from respawn.maths.seeding import make_generator
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.judge_fish import judged_tanks
from respawn.training.trained import Trained
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.world import FishWorld

STEPS_PER_SECOND = 25
"""How fast a tank is shown."""


class SchoolStage:
    """A trained policy and the tanks that it plays in, as many at a time as when it is judged.

    Args:
      trained: the policy.
      tanks: how they are set up; see `judged_tanks`.
      num_seeds: how many schools are to be played.
      knobs: of the run at that moment; None: as the tanks are set up.
      device_name: where to compute.
    """

    def __init__(
        self, trained: Trained, tanks: FishConfig, num_seeds: int, *, knobs: Knobs | None, device_name: str
    ) -> None:
        self.device = resolve_device(device_name, wants_gpu=False)
        prepare_torch(self.device, trained.config.threads)
        schools = min(num_seeds, SCHOOLS_AT_A_TIME)
        self.world = FishWorld(tanks, schools * tanks.fish, device=self.device)
        if knobs is not None:
            self.world.apply(judging_knobs(tanks, knobs))
        self.model = trained.model(self.world.spec, self.device)

    def play(self, seeds: Sequence[int], generator: Generator | None) -> list[SchoolRecord]:
        """What becomes of a school from each seed."""
        return play_schools(self.world, self.model, seeds, generator, self.device)

    def record(self, seeds: Sequence[int], wanted: Sequence[int], generator: Generator | None) -> list[SchoolRecording]:
        """The same, and every moment of the schools at some places."""
        return record_schools(self.world, self.model, seeds, wanted, generator, self.device)

    def dice(self, seed: int, *, greedy: bool) -> Generator | None:
        """What `respawn evaluate` draws actions with for schools from `seed` on, thrown anew; None where none are."""
        return None if greedy else make_generator(seed, "sampled", device=self.device)


def tanks_to_watch(config: RunConfig, fish: int, limit_steps: int) -> FishConfig:
    """Those that policies are judged in; an episode that is cut earlier is the same until then."""
    tanks = judged_tanks(config, fish)
    return replace(tanks, limit_steps=min(tanks.limit_steps, limit_steps))
