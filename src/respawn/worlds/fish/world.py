"""Schools of fish as a World: every fish is a lane; the lanes of a school share an episode, a tank and a predator."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from respawn.contracts.knobs import Knobs, KnobSpec
from respawn.contracts.records import Episode
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import (
    ContinuousActions,
    DiscreteActions,
    Frame,
    ObservationSpec,
    StepResult,
    WorldSpec,
)
from respawn.errors import CheckpointError, ConfigError, WorldError
from respawn.maths.hashing import int64_tensor, mix, uniform
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.constants import ACTIONS
from respawn.worlds.fish.draw import draw_tank
from respawn.worlds.fish.draws import make_dice
from respawn.worlds.fish.ledger import SchoolLedger
from respawn.worlds.fish.neighbours import Neighbourhood
from respawn.worlds.fish.predator import distances
from respawn.worlds.fish.starts import Births, give_birth
from respawn.worlds.fish.state import SwarmState
from respawn.worlds.fish.tank import make_tank
from respawn.worlds.start_queue import StartQueue

STRIDE = 10
"""Steps between two moments at which staggered schools begin."""
EVERYONE_CAUGHT, FORCED_RESET, TIME_LIMIT = "everyone caught", "forced reset", "time limit"


class FishWorld:
    """S schools of N fish in one batch; no loop over fish or schools but where an episode is written down."""

    def __init__(self, config: FishConfig, num_lanes: int, *, device: torch.device | None = None) -> None:
        if num_lanes % config.fish:
            raise ConfigError(
                f"every fish is a lane, so collection.num-lanes must be a multiple of world.fish ({config.fish}), "
                f"not {num_lanes}"
            )
        self._config = config
        self._device = device or torch.device("cpu")
        self._num_schools = num_lanes // config.fish
        self._spec = WorldSpec(
            name="fish",
            observation=ObservationSpec(shape=(config.num_values,)),
            actions=DiscreteActions(len(ACTIONS)) if config.steering == "discrete" else ContinuousActions(2),
            num_lanes=num_lanes,
            action_names=ACTIONS if config.steering == "discrete" else (),
            knobs=(
                KnobSpec("school_size", config.fish, 1, config.fish),
                *((KnobSpec("escape_boost", config.escape_boost_speed, 0.0, 1.0),) if config.escape_boost else ()),
                KnobSpec("density_penalty", config.density_penalty, 0.0, 100.0),
                KnobSpec("hard_start_share", 0.0, 0.0, 1.0),
            ),
            lanes_per_episode=config.fish,
            tail_facts=("first_death",),
        )
        self._size = config.fish
        self._boost = config.escape_boost_speed
        self._density_penalty = config.density_penalty
        self._dice = make_dice(config, self._num_schools, self._device)
        self._starts = StartQueue()
        self._tank = make_tank(config, self._device)
        self._neighbourhood = Neighbourhood(config.neighbour_radius, config.neighbour_count, self._device)
        self._swarm = SwarmState.empty(self._num_schools, config.fish, self._device)
        self._ledger = SchoolLedger(self._num_schools, self._device)
        self._all = torch.arange(self._num_schools)
        self._nobody = torch.zeros_like(self._swarm.alive)
        self._observation = torch.zeros(self._num_schools, config.fish, config.num_values, device=self._device)
        self._begun = 0
        self.births: Births | None = None
        """how the schools began that last did, all of them after `reset`"""
        self.ended: tuple[list[int], SwarmState] | None = None
        """the schools whose episode ended in the last step, as they were at its end; None: there were none"""

    @property
    def spec(self) -> WorldSpec:
        """Shapes, lanes, knobs."""
        return self._spec

    @property
    def swarm(self) -> SwarmState:
        """Where everybody is; not to be changed."""
        return self._swarm

    @property
    def config(self) -> FishConfig:
        """How the tanks are set up."""
        return self._config

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Begin a new episode in every school, from the seed of its first lane."""
        if len(seeds) != self._spec.num_lanes:
            raise WorldError(f"expected one seed for each of {self._spec.num_lanes} lanes, got {len(seeds)}")
        self._dice.seed(list(seeds)[:: self._config.fish])
        self._starts.begin()
        self._begin(self._all)
        self._begun, self.ended = 0, None
        if self._config.staggered:
            chance = uniform(mix(int64_tensor(list(seeds)[:: self._config.fish], self._device)))
            # In whole strides: beginning one school takes as long as beginning many, so they had better do it together.
            strides = -(-self._period // STRIDE)
            self._swarm.cut_steps.copy_((((chance * strides).int() + 1) * STRIDE).clamp(max=self._period))
        return self.observe()

    def step(self, actions: Tensor) -> StepResult:
        """Let every fish swim and every predator fall; schools whose episode ends begin the next one."""
        swarm, config = self._swarm, self._config
        distance, caught = self._tank.move(swarm, actions)  # [S, N] each
        swarm.steps += 1
        statistics = self._sense(swarm, distance, self._observation)
        crowd = statistics if self._pays_for_neighbours else None
        reward = self._tank.pay(swarm, distance, caught, crowd, self._density_penalty)
        paid, living = self._tank.tally(swarm, reward, caught)  # [S] each
        self._ledger.add(paid, living, swarm.sizes)

        nobody = living == 0
        late = swarm.steps >= config.limit_steps
        forced = (swarm.steps >= swarm.cut_steps) & ~late
        ended = nobody | late | forced
        terminated, truncated = caught, self._nobody  # [S, N]
        cuts, self.ended = self._no_cuts, None
        episodes: tuple[Episode, ...] = ()
        if bool(ended.any()):
            cut = forced | late if config.limit_truncates else forced
            truncated = swarm.alive & cut[:, None]
            terminated = caught | (swarm.alive & (late & ~cut)[:, None])
            cuts = self._observation[truncated]  # a copy
            schools = ended.nonzero().squeeze(1).cpu()
            episodes = self._episodes(schools, nobody, forced)
            self.ended = schools.tolist(), swarm.some(schools.to(self._device))
            self._begin(schools)
        counts = {
            "hard_starts": float(self._begun),
            "forced_resets": float(sum(e.end == FORCED_RESET for e in episodes)),
        }
        self._begun = 0
        return StepResult(
            observation=self.observe(),
            reward=reward.flatten(),
            terminated=terminated.flatten(),
            truncated=truncated.flatten(),
            cut_observations=cuts,
            valid=self.present(),
            episodes=episodes,
            counts=counts,
        )

    def observe(self) -> Tensor:
        """The current observations [S * N, 11 or 18]; zeros where a fish is dead."""
        return self._observation.flatten(0, 1)

    def present(self) -> Tensor:
        """[S * N] bool: the living."""
        return self._swarm.alive.flatten()

    def facts_so_far(self, lane: int) -> Mapping[str, float | str]:
        """What the lane's school would say of its episode if it were cut short now."""
        school = lane // self._config.fish
        return self._ledger.facts(torch.tensor([school]), self._swarm)[0]

    def apply(self, knobs: Knobs) -> None:
        """Take over new values; another number of fish begins all episodes anew, in place."""
        self._boost = knobs.values.get("escape_boost", self._boost)
        self._density_penalty = knobs["density_penalty"]
        self._starts.offer(knobs.starts, knobs["hard_start_share"])
        size = round(knobs["school_size"])
        if size != self._size:
            self._size = size
            self._begin(self._all)

    def render(self, lane: int) -> Frame:
        """The tank of a lane's school, without a past."""
        school = lane // self._config.fish
        return draw_tank(self._swarm.some(torch.tensor([school], device=self._device)))

    def close(self) -> None:
        """Nothing to give back."""

    def state(self) -> StateTree:
        """The tanks, the dice, what episodes have gathered and what is next in the queue."""
        return {
            "swarm": self._swarm.state(),
            "dice": self._dice.state(),
            "ledger": self._ledger.state(),
            "starts": self._starts.state(),
            "size": self._size,
            "boost": self._boost,
            "density_penalty": self._density_penalty,
            "begun": self._begun,
        }

    def restore(self, state: StateTree) -> None:
        """All as it was."""
        saved = state["swarm"]["alive"].shape
        if saved != self._swarm.alive.shape:
            wanted = " schools of ".join(str(size) for size in self._swarm.alive.shape)
            came = " schools of ".join(str(size) for size in saved)
            raise CheckpointError(
                f"expected the state of {wanted} fish, got {came}; resume with the lanes it began with"
            )
        self._swarm.restore(state["swarm"])
        self._dice.restore(state["dice"])
        self._ledger.restore(state["ledger"])
        self._starts.restore(state["starts"])
        self._size = state["size"]
        self._boost = state["boost"]
        self._density_penalty = state["density_penalty"]
        self._begun = state["begun"]
        self._sense(self._swarm, distances(self._swarm.fish, self._swarm.predator), self._observation)

    @property
    def _period(self) -> int:
        """Steps after which an episode is cut, if it has not come to its end by then."""
        return self._config.forced_reset_steps or self._config.limit_steps

    @property
    def _no_cuts(self) -> Tensor:
        return self._observation[:0, 0]

    def _sense(self, swarm: SwarmState, distance: Tensor, out: Tensor) -> Tensor | None:
        """Write the observations, and answer the statistics of neighbours [S, N, 7] if anything needs them."""
        statistics = None
        if self._config.neighbours or self._pays_for_neighbours:
            statistics = self._neighbourhood.statistics(swarm.fish, swarm.alive)
        self._tank.sense(swarm, distance, statistics if self._config.neighbours else None, out)
        return statistics

    @property
    def _pays_for_neighbours(self) -> bool:
        return bool(self._density_penalty or self._config.divergence_reward)

    def _episodes(self, schools: Tensor, nobody: Tensor, forced: Tensor) -> tuple[Episode, ...]:
        empty, cut = nobody[schools].tolist(), forced[schools].tolist()
        facts = self._ledger.facts(schools, self._swarm)
        returns, lengths = self._ledger.totals(schools, self._swarm)
        return tuple(
            Episode(
                lane=school * self._config.fish,
                episode_return=returns[place],
                length=lengths[place],
                end=EVERYONE_CAUGHT if empty[place] else FORCED_RESET if cut[place] else TIME_LIMIT,
                facts=facts[place],
            )
            for place, school in enumerate(schools.tolist())
        )

    def _begin(self, schools: Tensor) -> None:
        """Begin a new episode in some schools [K] (on the CPU)."""
        starts = self._starts.take(len(schools))
        given = torch.tensor([start is not None for start in starts])
        draws = self._dice.throw(schools, self._size, given)
        births = give_birth(self._config, draws, self._boost, starts)
        self._begun += int(given.sum())
        limit = self._config.limit_steps
        fresh = SwarmState.empty(len(schools), self._config.fish, self._device)
        fresh.fish[:, :, : self._size] = births.fish
        fresh.predator = births.predator
        fresh.alive[:, : self._size] = True
        fresh.sizes.fill_(self._size)
        fresh.cut_steps = torch.where(draws.chance < self._config.forced_reset_share, self._period, limit).int()
        where = schools.to(self._device)
        self._swarm.put(where, fresh)
        self._ledger.begin(where, given.to(self._device))
        seen = torch.zeros(len(schools), *self._observation.shape[1:], device=self._device)
        self._sense(fresh, distances(fresh.fish, fresh.predator), seen)
        self._observation[where] = seen
        self.births = births


def school_seeds(seeds: Sequence[int], num_fish: int) -> list[int]:
    """One seed a lane, as `reset` wants them, from one a school."""
    return [seed for seed in seeds for _ in range(num_fish)]
