"""The Mario world: consoles and rules make steps."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from respawn.contracts.knobs import Knobs, KnobSpec, Start
from respawn.contracts.records import Episode
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import DiscreteActions, Frame, StepResult, WorldSpec
from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.worlds.episodes import EpisodeTracker
from respawn.worlds.mario import ram
from respawn.worlds.mario.buttons import button_byte, forward_actions
from respawn.worlds.mario.cells import Cells
from respawn.worlds.mario.chance import STARTS, STICKS, WAITS, choose, throw
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.consoles import pool_config
from respawn.worlds.mario.creatures import Creatures
from respawn.worlds.mario.cutscenes import Cutscenes, to_run_on
from respawn.worlds.mario.hard_starts import read_start
from respawn.worlds.mario.level_window import LevelWindow
from respawn.worlds.mario.limits import CLEARED, ENDS, STEP_LIMIT, Limits, is_cut, look
from respawn.worlds.mario.progress import Progress
from respawn.worlds.mario.ram import Bytes, Integers, MarioFacts, read_facts
from respawn.worlds.mario.replays import Replays
from respawn.worlds.mario.rewards import knob_specs, worth_from, worth_of
from respawn.worlds.mario.starts import ConsolePool, Game, open_game
from respawn.worlds.mario.tiles import TileReader
from respawn.worlds.mario.viewer import Viewer
from respawn.worlds.mario.views import PixelView, TileView, View
from respawn.worlds.start_queue import StartQueue


class MarioWorld:
    """B consoles, one a lane. Everything a lane does follows from its seed and its actions."""

    def __init__(
        self, config: MarioConfig, num_lanes: int, *, device: torch.device | None = None, game: Game | None = None
    ) -> None:
        self._config = config
        self._game = open_game(config.rom, config.region) if game is None else game
        self._device = device or torch.device("cpu")
        self._view: View = (TileView if config.observation == "tiles" else PixelView)(config, num_lanes, self._device)
        self._pool = pool_config(config, num_lanes, draws=self._view.frames is not None)
        self._consoles: ConsolePool = self._game.pool(self._pool)
        self._cutscenes = Cutscenes(self._game, self._pool)
        self._viewer = Viewer(self._game, self._consoles, config.frame_skip, num_lanes)
        self._buttons = np.array([button_byte(name) for name in config.action_names], np.uint8)
        self._levels = [str(level) for level in config.start_levels]
        self._open = LevelWindow(len(self._levels))
        self._queue = StartQueue()
        self._worth = worth_of(config.rewards)
        self._limits = Limits(config)
        rewards = config.rewards
        self._progress = Progress(num_lanes, config.frame_skip, rewards.milestone_pixels, falls_pay=rewards.falls_pay)
        self._tracker = EpisodeTracker(num_lanes)
        self._spec = WorldSpec(
            name="mario",
            observation=self._view.spec,
            actions=DiscreteActions(len(self._buttons)),
            num_lanes=num_lanes,
            frames_per_step=config.frame_skip,
            knobs=(*knob_specs(config.rewards), *self._open.knobs, *self._start_knobs()),
            action_names=config.action_names,
            forward_actions=forward_actions(config.action_names),
            forward_fact="x",
            share_counts=("forward", "stalled"),
        )
        self._all = np.arange(num_lanes, dtype=np.int32)
        self._seeds = np.zeros(num_lanes, np.uint64)
        self._episodes = np.zeros(num_lanes, np.uint64)  # how many came before in this lane
        self._held = np.zeros(num_lanes, np.uint8)
        self._hard = np.zeros(num_lanes, np.bool_)  # lanes whose episode began with a hard start
        self._replays: Replays | None = None  # made when the first one is dealt
        self._counts: dict[str, float] = {}
        self._watched = np.zeros((num_lanes, len(ram.WATCHED)), np.uint8)
        self._valid = torch.ones(num_lanes, dtype=torch.bool, device=self._device)
        self._finals: Tensor | None = None
        self._start_facts = self._make_starts(num_lanes)
        self._facts = self._start_facts.take(np.zeros(num_lanes, np.intp))
        self._final_facts = self._facts

    def _start_knobs(self) -> tuple[KnobSpec, ...]:
        """A whole game begins where games begin."""
        return () if self._config.whole_game else (KnobSpec("hard_start_share", 0.0, 0.0, 1.0),)

    def _make_starts(self, num_lanes: int) -> MarioFacts:
        """Fill the table that episodes begin from: for each level, the moments it may begin at."""
        states, pictures = self._level_starts()
        self._consoles.set_starts(states)
        watched = np.empty((len(states), len(ram.WATCHED)), np.uint8)
        for first in range(0, len(states), num_lanes):
            batch = states[first : first + num_lanes]
            self._consoles.load_states(self._all[: len(batch)], batch)
            self._consoles.observe(ram=self._watched)
            watched[first : first + num_lanes] = self._watched[: len(batch)]
        facts = read_facts(watched)
        self._check_starts(facts)
        self._view.learn_starts(watched, facts, pictures)
        return facts

    def _level_starts(self) -> tuple[Bytes, Bytes]:
        """The consoles' states at the moments that episodes may begin at, level by level, and what is seen there."""
        config = self._config
        made = [
            self._game.level_starts(level, config.most_waiting_frames, config.picture_size)
            for level in config.start_levels
        ]
        return np.concatenate([starts.states for starts in made]), np.concatenate([starts.pictures for starts in made])

    def _check_starts(self, facts: MarioFacts) -> None:
        """Refuse to wait so long that an enemy comes and ends episodes before they begin."""
        lost = np.flatnonzero(look(facts).lost)
        if len(lost):
            level, frame = divmod(int(lost[0]), self._config.most_waiting_frames + 1)
            raise ConfigError(
                f"world.start-jitter and world.noop-starts let Mario stand for up to "
                f"{self._config.most_waiting_frames} frames, and in {self._levels[level]} an enemy gets him after "
                f"{frame}; lower them"
            )

    @property
    def spec(self) -> WorldSpec:
        """Shapes, lanes, and a knob for each part of the reward."""
        return self._spec

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Begin the first episode of each lane's sequence."""
        if len(seeds) != self._spec.num_lanes:
            raise WorldError(f"expected one seed for each of {self._spec.num_lanes} lanes, got {len(seeds)}")
        self._seeds = np.array([int(seed) & (2**64 - 1) for seed in seeds], np.uint64)
        self._episodes[:] = 0
        self._tracker.begin()
        self._viewer.forget()
        self._queue.begin()
        return self._begin(self._all)

    def _begin(self, lanes: Integers) -> Tensor:
        """Put lanes at the start of their next episode: where the dice put them, or at a hard start."""
        observation = self._begin_levels(lanes)
        for lane, start in zip(lanes.tolist(), self._queue.take(len(lanes)), strict=True):
            if start is not None:
                observation = self._begin_hard(lane, start)
        return observation

    def _begin_hard(self, lane: int, start: Start) -> Tensor:
        """Begin in the middle of a level; what the episode adds up begins at nothing there."""
        if self._replays is None:
            self._replays = Replays(self._game, self._config, self._pool, *self._level_starts())
        moment = self._replays.moment(read_start(start.state, self._config))
        lanes = np.array([lane], np.int32)
        self._consoles.load_states(lanes, moment.state)
        self._facts.put(lanes, moment.facts)
        entry = np.array([moment.entry], np.int32)
        self._progress.begin(lanes, entry, moment.facts)
        self._progress.first_layout[lanes] = self._start_facts.take(entry).layout
        self._held[lane] = moment.held
        self._hard[lane] = True
        self._counts["hard_starts"] = self._counts.get("hard_starts", 0.0) + 1.0
        return self._view.begin_within(lane, moment.watched, moment.facts, moment.pictures)

    def _begin_levels(self, lanes: Integers) -> Tensor:
        """Put lanes at the start of an open level."""
        config, seeds, episodes = self._config, self._seeds[lanes], self._episodes[lanes]
        level = self._open.first + choose(seeds, episodes, STARTS, self._open.count)
        wait = choose(seeds, episodes, WAITS, config.start_jitter + 1)
        noops = choose(seeds, episodes + np.uint64(1 << 32), WAITS, config.noop_starts + 1)
        starts = level * (config.most_waiting_frames + 1) + wait + noops * config.frame_skip
        starts = starts.astype(np.int32)
        self._consoles.load(lanes, starts)
        facts = self._start_facts.take(starts)
        self._facts.put(lanes, facts)
        self._progress.begin(lanes, starts, facts)
        self._held[lanes] = 0
        self._hard[lanes] = False
        return self._view.begin(lanes, starts)

    def step(self, actions: Tensor) -> StepResult:
        """Hold each lane's buttons for a decision's frames, and judge what came of it."""
        held = self._press(actions.cpu().numpy())
        self._viewer.before_step(held)
        self._consoles.step(held, self._view.frames, self._watched)
        before, after = self._facts, read_facts(self._watched)
        seen = look(after)
        progress = self._progress
        counted = progress.advance(before, after, seen)
        counts = {**progress.counts(), **self._worth.sums(counted)}
        reward = self._worth.rewards(counted).astype(np.float32)
        ends = self._limits.ends(seen, progress.left_level, progress.looped, progress.stalled, progress.steps)
        ended = ends >= 0
        self._facts = self._final_facts = self._run_on(after, ended)
        observation = self._view.look(self._watched, self._facts)
        truncated = ended & is_cut(ends)
        terminated = ended & ~truncated
        episodes: tuple[Episode, ...] = ()
        cut = observation[:0]
        self._counts = {}
        if ended.any():
            self._finals, self._final_facts = observation, self._facts.take(self._all)
            cut = observation[torch.from_numpy(truncated).to(self._device)]
            lanes = np.flatnonzero(ended).astype(np.int32)
            episodes = self._tracker.record_arrays(
                reward, terminated, truncated, {lane: ENDS[ends[lane]] for lane in lanes.tolist()},
                {lane: self._ended(lane, int(ends[lane])) for lane in lanes.tolist()},
            )  # fmt: skip
            self._count_cleared(lanes, ends)
            self._episodes[lanes] += np.uint64(1)
            self._viewer.restarted(lanes)
            observation = self._begin(lanes)
        else:
            self._tracker.record_arrays(reward, terminated, truncated)
        return StepResult(
            observation=observation,
            reward=torch.from_numpy(reward).to(self._device),
            terminated=torch.from_numpy(terminated).to(self._device),
            truncated=torch.from_numpy(truncated).to(self._device),
            cut_observations=cut,
            valid=self._valid,
            episodes=episodes,
            counts={**counts, **self._counts},
        )

    def _count_cleared(self, lanes: Integers, ends: Integers) -> None:
        """How many episodes that began with a hard start were brought to a flag."""
        if self._hard[lanes].any():
            cleared = [self._hard[lane] and ENDS[ends[lane]] in CLEARED for lane in lanes.tolist()]
            self._counts["hard_starts_cleared"] = float(sum(cleared))

    def _run_on(self, facts: MarioFacts, ended: NDArray[np.bool_]) -> MarioFacts:
        """Let lanes run through what nothing can be decided in; returns the facts after it."""
        if not self._config.skip_cutscenes:
            return facts
        lanes = to_run_on(self._watched, ended)
        if not len(lanes):
            return facts
        counts = [
            self._cutscenes.run_on(self._consoles, lane, self._watched, self._view.frames) for lane in lanes.tolist()
        ]
        after = read_facts(self._watched)
        for lane, count in zip(lanes.tolist(), counts, strict=True):
            self._progress.arrive(lane, count, facts, after)
            self._viewer.ran_on(lane, count)
        return after

    def _press(self, actions: NDArray[Any]) -> Bytes:
        """What is held in this step: what was decided, or, where the dice say so, what was held before."""
        held: Bytes = self._buttons[actions]
        if self._config.sticky > 0.0:
            steps = self._progress.steps.astype(np.uint64)
            stuck = throw(self._seeds, self._episodes, steps, STICKS) < self._config.sticky
            held = np.where(stuck, self._held, held)
        self._held = held
        return held

    def _describe(self, lane: int, end: int) -> dict[str, float | str]:
        level = self._levels[self._progress.start[lane] // (self._config.most_waiting_frames + 1)]
        return {**self._progress.facts(lane, end, self._facts, level), "hard_start": float(self._hard[lane])}

    def _ended(self, lane: int, end: int) -> dict[str, float | str]:
        """What is said of an episode: of one that began in the middle, nothing that counts from a level's beginning."""
        facts = self._describe(lane, end)
        return {**facts, **dict.fromkeys(("cleared", "x", "flags"), math.nan)} if self._hard[lane] else facts

    def observe(self) -> Tensor:
        """The current observations."""
        return self._view.observe()

    def final_observations(self) -> Tensor:
        """What was last seen in the lanes that ended in the last step."""
        return self._view.observe() if self._finals is None else self._finals

    def present(self) -> Tensor:
        """Somebody is there in every lane."""
        return self._valid

    def facts_so_far(self, lane: int) -> dict[str, float | str]:
        """How far a lane's episode has come."""
        return self._describe(lane, ENDS.index(STEP_LIMIT))

    def apply(self, knobs: Knobs) -> None:
        """Take over what things are worth, which levels are open, and what episodes begin with."""
        self._worth = worth_from(knobs)
        self._open.apply(knobs)
        self._queue.offer(knobs.starts, knobs.values.get("hard_start_share", 0.0))
        # Nobody has decided anything yet in an episode that has just begun: it can still begin elsewhere.
        level = self._progress.start // (self._config.most_waiting_frames + 1)
        elsewhere = [not self._open.holds(place) for place in level.tolist()]
        lanes = np.flatnonzero((self._progress.steps == 0) & ~self._hard & np.array(elsewhere)).astype(np.int32)
        if len(lanes):
            self._begin_levels(lanes)

    def render(self, lane: int) -> Frame:
        """The screen of one lane as it is now."""
        return self._viewer.picture(lane)

    def last_frames(self, lane: int) -> Bytes:
        """[frames, 240, 256, 3]: every picture of a lane's last step, also of one that ended its episode."""
        return self._viewer.last_frames(lane)

    def last_held(self, lane: int) -> Bytes:
        """What was held in each frame of a lane's last step, those that it ran on by itself included."""
        return self._viewer.held(lane)

    def last_buttons(self, lane: int) -> int:
        """What was really held in a lane's last step."""
        return self._viewer.last_buttons(lane)

    def aftermath(self, lane: int, frames: int) -> Bytes:
        """[frames, 240, 256, 3]: how the game would have gone on after a lane's last step, with nothing pressed."""
        return self._viewer.aftermath(lane, frames)

    def waited_frames(self, lane: int) -> int:
        """For how many frames Mario stood still before a lane's episode began."""
        return int(self._progress.start[lane]) % (self._config.most_waiting_frames + 1)

    def facts(self) -> MarioFacts:
        """What the game's memory says now."""
        return self._facts

    def creatures(self) -> Creatures:
        """What else moves now: enemies, hazards, lifts and items, with kind, meaning, place and speed."""
        watched = self._watch()
        return Creatures(watched, read_facts(watched))

    def cells(self) -> Cells:
        """[B, rows, columns] what the cells round Mario mean now: blocks, creatures, himself. Agents may see pixels."""
        watched = self._watch()
        return TileReader(self._config).cells(watched, read_facts(watched))

    def _watch(self) -> Bytes:
        """What the consoles' memory holds now, also where lanes have just begun anew."""
        watched = np.empty_like(self._watched)
        self._consoles.observe(ram=watched)
        return watched

    def final_facts(self) -> MarioFacts:
        """What it said at the end of the last step, before lanes whose episode ended went back to a start."""
        return self._final_facts

    def close(self) -> None:
        """Nothing to give back: threads and memory go with the pool."""

    def state(self) -> StateTree:
        """Every console and everything that the rules have added up."""
        return {
            "consoles": self._consoles.save_states(self._all),
            "watched": self._watched.copy(),
            "facts": self._facts.state(),
            "seeds": self._seeds.astype(np.int64),
            "episodes": self._episodes.astype(np.int64),
            "held": self._held.copy(),
            "hard": self._hard.copy(),
            "queue": self._queue.state(),
            "progress": self._progress.state(),
            "tracker": self._tracker.state(),
            "view": self._view.state(),
        }

    def restore(self, state: StateTree) -> None:
        """Put everything back."""
        consoles = np.ascontiguousarray(np.asarray(state["consoles"]))
        if len(consoles) != self._spec.num_lanes:
            raise CheckpointError(
                f"expected the state of {self._spec.num_lanes} lanes, got {len(consoles)}; "
                "resume with the number of lanes that the run began with"
            )
        try:
            self._consoles.load_states(self._all, consoles)
        except ValueError as error:
            raise CheckpointError(f"the saved consoles are not of this engine: {error}") from error
        self._watched[:] = np.asarray(state["watched"])
        self._facts = MarioFacts.from_state(state["facts"])
        self._seeds = np.asarray(state["seeds"]).astype(np.uint64)
        self._episodes = np.asarray(state["episodes"]).astype(np.uint64)
        self._held = np.array(np.asarray(state["held"]), np.uint8)
        self._restore_starts(state)
        self._progress.restore(state["progress"])
        self._tracker.restore(state["tracker"])
        self._view.restore(state["view"])
        self._viewer.forget()

    def _restore_starts(self, state: StateTree) -> None:
        if "queue" in state:
            self._hard = np.array(np.asarray(state["hard"]), np.bool_)
            self._queue.restore(state["queue"])
        else:  # saved before there were hard starts
            self._hard[:] = False
            self._queue.begin()
