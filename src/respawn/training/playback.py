"""Playing one episode of a trained policy step by step, for people who watch: films, terminals and windows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray

from respawn.contracts.records import Episode
from respawn.contracts.world import DiscreteActions, World
from respawn.evaluation.episodes import UNFINISHED
from respawn.evaluation.video import FRAMES_PER_SECOND
from respawn.maths.seeding import make_generator
from respawn.training.config import RunConfig
from respawn.training.device import prepare_torch, resolve_device
from respawn.training.trained import Trained
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import make_world

if TYPE_CHECKING:  # the engine is loaded only where Mario is played
    from respawn.worlds.mario.world import MarioWorld

Frames = NDArray[np.uint8]  # [n, height, width, 3]

CLEARED_FRAMES, LOST_FRAMES = 270, 90
"""How long the game is watched after an end: down the flagpole and into the castle, or until all can see why."""
_OTHER_FRAMES_PER_SECOND = 30


class GameFacts(NamedTuple):
    """Where Mario is."""

    level: str
    x: int
    time: int


class SchoolFacts(NamedTuple):
    """How a school of fish is doing."""

    alive: int
    fish: int
    """that it began with"""
    seed: int


@dataclass(frozen=True, slots=True)
class Step:
    """One decision and what was seen of it."""

    number: int
    """decisions before it"""
    frames: Frames
    """Mario: every frame of it; other worlds: the picture that it was decided on; none if nobody watches"""
    action: int | None
    """which of the actions, where there are choices"""
    probabilities: tuple[float, ...]
    """of each action, where there are choices"""
    value: float
    reward: float
    buttons: int | None = None
    """Mario: what was held"""
    held: bytes = b""
    """Mario: what was held in each frame, those included that ran on by themselves, through a pipe for example"""
    game: GameFacts | None = None
    """Mario: where he is"""
    school: SchoolFacts | None = None
    """fish: how many are left"""
    episode: Episode | None = None
    """what came of it, in the last step"""
    aftermath: Frames | None = None
    """Mario: how the game goes on after the last step; fish: what that left"""


def playback_dice(seed: int, *, greedy: bool, device: torch.device) -> torch.Generator | None:
    """What draws the actions of the episode that is played from `seed`; None where the likeliest are taken."""
    return None if greedy else make_generator(seed, "playback", device=device)


class Playback:
    """A trained policy in a world of its own with one lane. Close it when it has played enough.

    The same seed gives the same episode as `respawn evaluate` plays from it, if the world is set up alike.
    """

    def __init__(self, trained: Trained, config: RunConfig, *, watched: bool = True, device_name: str = "cpu") -> None:
        """Make the world.

        Args:
          trained: the policy.
          config: the policy's own, or one with another world; see `with_world`.
          watched: False: there will be no frames, and it goes much faster.
          device_name: where to compute.
        """
        self._device = resolve_device(device_name, wants_gpu=False)
        prepare_torch(self._device, config.threads)
        world = config.world
        if isinstance(world, ForeignConfig) and watched:
            world = replace(world, render=True)
        self._watched = watched
        self._world: World = make_world(world, 1, device=self._device, seed=0)
        self._mario = cast("MarioWorld", self._world) if isinstance(world, MarioConfig) else None
        self.actions = world.action_names if isinstance(world, MarioConfig) else ()
        """Mario: what each action presses"""
        self.frames_per_second: float = _OTHER_FRAMES_PER_SECOND if self._mario is None else FRAMES_PER_SECOND
        self.waited_frames = 0
        """Mario: for how many frames the episode being played stood still before it began"""
        try:
            self._model = trained.model(self._world.spec, self._device)
        except BaseException:
            self._world.close()
            raise

    @property
    def is_mario(self) -> bool:
        """Whether steps tell buttons and where Mario is."""
        return self._mario is not None

    def play(self, seed: int, *, greedy: bool = True, limit_steps: int = 10_000) -> Iterator[Step]:
        """Play one episode, from its first step to its end.

        Args:
          seed: of the episode, and of the actions where they are drawn.
          greedy: take the likeliest action; False: draw it, as in training.
          limit_steps: an episode that is longer is left, and counted as unfinished.
        """
        world, model = self._world, self._model
        observation = world.reset([seed])
        memory = model.initial_memory(1)
        generator = playback_dice(seed, greedy=greedy, device=self._device)
        if self._watched:
            world.render(0)  # from now on the world keeps what it needs to show every frame
        self.waited_frames = 0 if self._mario is None else self._mario.waited_frames(0)
        total = 0.0
        for number in range(limit_steps):
            with torch.no_grad():
                decision, parameters = model.inspect(observation.to(self._device), memory, generator)
            memory = decision.memory
            before = self._seen_before()
            result = world.step(decision.actions.to(observation.device))
            observation = result.observation
            total += float(result.reward[0])
            episode = result.episodes[0] if result.episodes else None
            if episode is None and number == limit_steps - 1:
                episode = Episode(0, total, limit_steps, UNFINISHED, world.facts_so_far(0))
            choice = isinstance(world.spec.actions, DiscreteActions)
            yield Step(
                number=number,
                frames=self._frames(before),
                action=int(decision.actions[0]) if choice else None,
                probabilities=tuple(parameters[0].float().softmax(-1).tolist()) if choice else (),
                value=float(decision.values[0]),
                reward=float(result.reward[0]),
                buttons=None if self._mario is None else self._mario.last_buttons(0),
                held=b"" if self._mario is None else self._mario.last_held(0).tobytes(),
                game=self._game(episode),
                episode=episode,
                aftermath=self._aftermath(episode),
            )
            if episode is not None:
                return

    def close(self) -> None:
        """Give the world back."""
        self._world.close()

    def _seen_before(self) -> Frames | None:
        """The picture that a decision is made on, for worlds that show one a step."""
        return self._world.render(0)[None] if self._watched and self._mario is None else None

    def _frames(self, before: Frames | None) -> Frames:
        if self._watched and self._mario is not None:
            return self._mario.last_frames(0)
        return np.zeros((0, 0, 0, 3), np.uint8) if before is None else before

    def _game(self, episode: Episode | None) -> GameFacts | None:
        if self._mario is None:
            return None
        if episode is not None and episode.end != UNFINISHED:  # the console has gone back to a start already
            said = episode.facts
            return GameFacts(str(said["reached"]), int(said["end_x"]), int(said["time_left"]))
        facts = self._mario.facts()
        return GameFacts(f"{facts.world[0]}-{facts.stage[0]}", int(facts.x[0]), int(facts.time[0]))

    def _aftermath(self, episode: Episode | None) -> Frames | None:
        if episode is None or self._mario is None or not self._watched:
            return None
        return self._mario.aftermath(0, CLEARED_FRAMES if episode.facts.get("cleared") else LOST_FRAMES)
