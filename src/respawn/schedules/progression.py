"""When actions are forced: at the beginning, on a stall, on a plateau. How, the collectors know."""

import math
from collections.abc import Mapping
from typing import Any

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Script
from respawn.contracts.records import EvaluationReport, Ruling, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import WorldSpec
from respawn.errors import ConfigError
from respawn.schedules.progression_config import ProgressionConfig
from respawn.schedules.script_text import decisions_of, find_action, in_decisions, names_of_actions, parse_script

NAME = "progression"
"""What its rulings are called."""
SCRIPTED = "collect/scripted_fraction"
HARD_STARTS = "world/hard_starts"
_FIRST_NUMBERS = 2
"""The script of the beginning is number 1, that of the first forward frames number 2; others come after."""


class Watch:
    """For how many updates a number has not risen enough over the value that it has been watched from."""

    def __init__(self, gain: float = 0.0) -> None:
        self._gain = gain
        self.since = 0
        self.best: float | None = None

    def see(self, update: int, value: float | None) -> int:
        """Take in an update's value, if it had one; answers how many updates there was nothing new."""
        if value is not None and math.isfinite(value) and self._is_news(value):
            self.best, self.since = value, update
        return update - self.since

    def _is_news(self, value: float) -> bool:
        return self.best is None or (value > self.best and value >= self.best + self._gain)

    def begin_anew(self, update: int) -> None:
        """Watch from here."""
        self.best, self.since = None, update

    def state(self) -> StateTree:
        """The value watched from, and since when."""
        return {"best": self.best, "since": self.since}

    def restore(self, state: StateTree) -> None:
        """The same again."""
        self.best, self.since = state["best"], state["since"]


class Progression:
    """Offers scripts. It turns no knob.

    While anything is forced, how far the agent comes is not its own doing, and metrics are means over recent episodes:
    whatever is watched is watched anew once all of those are the agent's own.
    """

    def __init__(
        self,
        config: ProgressionConfig,
        world: WorldSpec,
        *,
        probed: str | None = None,
        settling_episodes: int = 0,
        most_lag: int = 0,
    ) -> None:
        """Build it as it is before the first update; raises ConfigError for what this world cannot do.

        Args:
          config: what is forced, and when.
          world: whose actions are forced.
          probed: the action that probing found to lead forward, if it was done and found one.
          settling_episodes: how many must end after the last forced decision until metrics know nothing of it.
          most_lag: updates until a rollout is learned from, at most.
        """
        self._config = config
        self._world = world
        self._settling_episodes = settling_episodes
        self._most_lag = most_lag
        if config.forces_anything:
            names_of_actions(world)  # refuses worlds without single choices
        self._metric = config.metric or (f"episode/{world.forward_fact}" if world.forward_fact else "return/mean")
        self._forward, self._source = self._resolved(probed)
        self._first = in_decisions(config.first_parts, world)
        self._second = in_decisions(parse_script(config.plateau_script), world) if config.plateau_script else ()
        self._bootstrap = find_action(config.bootstrap_action, world) if config.bootstrap_action else None
        self._watches = {"bootstrap": Watch(), "plateau": Watch(config.plateau_gain), "warning": Watch()}
        self._fired = {"bootstrap": 0, "plateau": 0}
        self._numbers = {"bootstrap": 0, "plateau": 0}  # of the last script of each
        self._last_bootstrap = 0  # the update after which it began
        self._forcing = False
        self._quiet_updates = 0  # since one in which anything was forced
        self._forced_episodes: int | None = None  # how many of the agent's own had ended when that was; None: never
        self._hard_starts = 0
        self._said = False

    def _resolved(self, probed: str | None) -> tuple[int | None, str]:
        """The forward action, and who says so."""
        config, world = self._config, self._world
        if not config.goes_forward:
            return None, ""
        if config.forward_action:
            return find_action(config.forward_action, world), "setting"
        if probed is not None:
            return find_action(probed, world), "probe"
        if world.forward_actions:
            return find_action(world.forward_actions[0], world), "world"
        if config.probe_decisions:
            raise ConfigError(
                f"of the actions of {world.name} none led anywhere in schedules.progression.probe-decisions "
                f"({config.probe_decisions}); try more, or name schedules.progression.forward-action"
            )
        raise ConfigError(
            f"{world.name} does not know which action leads forward; name it in schedules.progression.forward-action "
            f"({', '.join(names_of_actions(world))}), or find it with schedules.progression.probe-decisions"
        )

    @property
    def owns(self) -> frozenset[str]:
        """No knob."""
        return frozenset()

    def decide(self, clock: Clock) -> Mapping[str, float]:
        """Nothing to turn."""
        return {}

    def scripts(self, clock: Clock) -> tuple[Script, ...]:
        """All that were ever due and not replaced; who has played one does not begin it again."""
        config, offered = self._config, []
        if self._fired["plateau"]:
            offered.append(self._plateau_script())
        if self._fired["bootstrap"]:
            action = self._forward_or(self._bootstrap)
            decisions = decisions_of(config.bootstrap_frames, self._world)
            offered.append(Script(self._numbers["bootstrap"], "bootstrap", ((action, decisions),), decisions))
        episodes = config.sequence_when == "episodes"
        if self._first and not (episodes and clock.updates >= config.sequence_updates):
            total = sum(decisions for _, decisions in self._first)
            offered.append(Script(1, "sequence", self._first, total, each_episode=episodes))
        if config.forward_frames:
            decisions = decisions_of(config.forward_frames, self._world)
            offered.append(Script(2, "forward", ((self._forward_or(None), decisions),), decisions))
        return tuple(offered)

    def _plateau_script(self) -> Script:
        frames = decisions_of(self._config.plateau_frames, self._world)
        parts = self._second or ((self._forward_or(None), frames),)
        decisions = frames or sum(decisions for _, decisions in parts)
        return Script(self._numbers["plateau"], "plateau", parts, decisions)

    def _forward_or(self, other: int | None) -> int:
        action = self._forward if other is None else other
        assert action is not None, "what goes forward has a forward action by the first update"
        return action

    def observe(self, report: UpdateReport | EvaluationReport) -> tuple[Ruling, ...]:
        """See whether it goes on by itself; answers what is done where it does not."""
        if not isinstance(report, UpdateReport):
            return ()
        update = report.update
        concluded = [] if self._said else self._introduction()
        self._said = True
        forced = report.metrics.get(SCRIPTED, 0.0) > 0.0
        value = report.metrics.get(self._metric)
        self._quiet_updates = 0 if forced else self._quiet_updates + 1
        if forced:
            self._forcing = True
        elif self._forcing and self._is_over(update):
            self._forcing = False
            concluded.append({"event": "handed_back"})
        # Episodes that began elsewhere are no part of how far episodes come.
        self._hard_starts += int(report.metrics.get(HARD_STARTS, 0))
        own_episodes = report.episodes - self._hard_starts
        if forced:
            self._forced_episodes = own_episodes
        if self._is_settled(own_episodes, value) and not forced:
            concluded += self._look(update, value, own_episodes)
        else:
            for watch in self._watches.values():
                watch.begin_anew(update)
        return tuple(Ruling(update, NAME, facts) for facts in concluded)

    def _is_over(self, update: int) -> bool:
        """Whether nothing more is to come of the last script: not of one for each episode, nor of slower actors."""
        offered = self.scripts(Clock(updates=update))
        return self._quiet_updates >= self._most_lag and not any(script.each_episode for script in offered)

    def _is_settled(self, episodes: int, value: float | None) -> bool:
        """Whether the metric is the policy's own doing; one that no episode has made yet is."""
        since = self._forced_episodes
        return since is None or value is None or episodes - since >= self._settling_episodes

    def _introduction(self) -> list[dict[str, Any]]:
        """What was settled before the first update."""
        said: list[dict[str, Any]] = []
        if self._forward is not None:
            name = names_of_actions(self._world)[self._forward]
            said.append({"event": "forward_action", "action": name, "source": self._source})
        return said + [self._begun(script) for script in self.scripts(Clock())]

    def _look(self, update: int, value: float | None, own_episodes: int) -> list[dict[str, Any]]:
        """Compare an update in which only the policy acted with the best before it."""
        config, concluded = self._config, []
        without = {name: watch.see(update, value) for name, watch in self._watches.items()}
        if config.warn_after and without["warning"] and without["warning"] % config.warn_after == 0:
            best = self._watches["warning"].best
            facts = {"metric": self._metric, "value": value, "best": best, "updates": without["warning"]}
            concluded.append({"event": "stagnation", **facts})
        for reason in ("plateau", "bootstrap"):
            if self._is_due(reason, update, without[reason]):
                concluded.append(self._fire(reason, update, value))
                self._forced_episodes = own_episodes
                break  # one at a time: the other is watched anew after it
        return concluded

    def _is_due(self, reason: str, update: int, without: int) -> bool:
        config = self._config
        if reason == "plateau":
            return 0 < config.plateau_after <= without and not self._fired[reason]
        rested = not self._fired[reason] or update - self._last_bootstrap >= config.bootstrap_cooldown
        return 0 < config.bootstrap_after <= without and rested and self._fired[reason] < config.bootstrap_times

    def _fire(self, reason: str, update: int, value: float | None) -> dict[str, Any]:
        watch = self._watches[reason]
        grounds = {"metric": self._metric, "value": value, "best": watch.best, "since": watch.since}
        self._numbers[reason] = _FIRST_NUMBERS + 1 + sum(self._fired.values())
        self._fired[reason] += 1
        if reason == "bootstrap":
            self._last_bootstrap = update
        for watched in self._watches.values():
            watched.begin_anew(update)
        (script,) = (script for script in self.scripts(Clock(updates=update)) if script.reason == reason)
        return {**self._begun(script), **grounds}

    def _begun(self, script: Script) -> dict[str, Any]:
        names = names_of_actions(self._world)
        parts = [[names[action], decisions] for action, decisions in script.parts]
        facts = {"number": script.number, "reason": script.reason, "parts": parts, "decisions": script.decisions}
        return {"event": "script", **facts, "each_episode": script.each_episode}

    def state(self) -> StateTree:
        """What is watched, what was fired, and which way is forward."""
        return {
            "forward": self._forward,
            "source": self._source,
            "watches": {name: watch.state() for name, watch in self._watches.items()},
            "fired": dict(self._fired),
            "numbers": dict(self._numbers),
            "last_bootstrap": self._last_bootstrap,
            "forcing": self._forcing,
            "quiet_updates": self._quiet_updates,
            "forced_episodes": self._forced_episodes,
            "hard_starts": self._hard_starts,
            "said": self._said,
        }

    def restore(self, state: StateTree) -> None:
        """The same again, and forward is where it was."""
        self._forward, self._source = state["forward"], state["source"]
        for name, watch in self._watches.items():
            watch.restore(state["watches"][name])
        self._fired, self._numbers = dict(state["fired"]), dict(state["numbers"])
        self._last_bootstrap = state["last_bootstrap"]
        self._forcing, self._said = state["forcing"], state["said"]
        self._quiet_updates, self._forced_episodes = state["quiet_updates"], state["forced_episodes"]
        self._hard_starts = state["hard_starts"]
