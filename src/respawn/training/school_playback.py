"""Playing a trained school of fish step by step, for people who watch."""

from collections.abc import Iterator

import numpy as np
import torch

from respawn.training.playback import Frames, SchoolFacts, Step
from respawn.training.school_stage import STEPS_PER_SECOND, SchoolStage, tanks_to_watch
from respawn.training.trained import Trained
from respawn.worlds.fish.painter import TankPainter
from respawn.worlds.fish.world import school_seeds


class SchoolPlayback:
    """A trained policy in a tank of its own, one of those that it is judged in.

    Args:
      trained: the policy.
      fish: in the school.
      limit_steps: episodes that are longer are cut.
      painter: makes the pictures; None: there will be none.
      device_name: where to compute.
    """

    DEFAULT_FISH = 96

    actions: tuple[str, ...] = ()
    is_mario = False
    frames_per_second: float = STEPS_PER_SECOND

    def __init__(
        self,
        trained: Trained,
        *,
        fish: int = DEFAULT_FISH,
        limit_steps: int = 10_000,
        painter: TankPainter | None = None,
        device_name: str = "cpu",
    ) -> None:
        self._title = trained.name
        self._painter = painter
        tanks = tanks_to_watch(trained.config, fish, limit_steps)
        self._stage = SchoolStage(trained, tanks, 1, knobs=None, device_name=device_name)

    @torch.no_grad()
    def play(self, seed: int, *, greedy: bool = True) -> Iterator[Step]:
        """Play one episode to its end: that which a film of this seed alone shows.

        Args:
          seed: of the episode, and of the actions where they are drawn.
          greedy: take the likeliest actions; False: draw them, as in training.
        """
        world, model, device = self._stage.world, self._stage.model, self._stage.device
        fish = world.config.fish
        observation = world.reset(school_seeds([seed], fish))
        memory = model.initial_memory(fish)
        dice = self._stage.dice(seed, greedy=greedy)
        episode, number = None, 0
        self._see()
        while episode is None:
            before = self._picture(seed)
            living = world.present().clone()  # the world goes on in place
            decision = model.act(observation.to(device), memory, dice)
            memory = decision.memory
            result = world.step(decision.actions)
            observation = result.observation
            episode = result.episodes[0] if result.episodes else None
            self._see()
            alive = int(world.present().sum()) if episode is None else int(episode.facts["alive"])
            yield Step(
                number=number,
                frames=before,
                action=None,
                probabilities=(),
                value=float(decision.values[living].mean()),
                reward=float(result.reward[living].mean()),
                school=SchoolFacts(alive, fish, seed),
                episode=episode,
                aftermath=None if episode is None else self._picture(seed),
            )
            number += 1

    def close(self) -> None:
        """Give the world back."""
        self._stage.world.close()

    def _see(self) -> None:
        if self._painter is not None:
            ended = self._stage.world.ended
            self._painter.see(self._stage.world.swarm if ended is None else ended[1])

    def _picture(self, seed: int) -> Frames:
        if self._painter is None:
            return np.zeros((0, 0, 0, 3), np.uint8)
        return self._painter.picture(f"{self._title}   seed {seed}")[None]
