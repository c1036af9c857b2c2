"""From settings to the schedules of single knobs: curves, windows over them, adaptive channels over either."""

import difflib
from dataclasses import MISSING, fields

from respawn.contracts.knobs import KnobSpec
from respawn.contracts.schedule import Schedule
from respawn.errors import ConfigError, KnobError
from respawn.learners.metric_names import GROUPS, metric_names
from respawn.schedules.adaptive import AdaptiveChannel
from respawn.schedules.adaptive_config import AdaptiveConfig
from respawn.schedules.compose import Fixed, KnobSchedule, check_reach
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.curves import Curve
from respawn.schedules.windows import Windows
from respawn.training.config import RunConfig
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.registry import numeric_facts

_OF_EPISODES = frozenset({
    "return/mean", "return/p10", "return/p50", "return/p90", "return/max", "length/mean",
    "episodes/terminated_fraction",
})  # fmt: skip


def knob_schedules(config: RunConfig, knobs: tuple[KnobSpec, ...]) -> list[Schedule]:
    """One for each knob that has a curve, windows or a channel; raises ConfigError for what cannot work."""
    specs = {knob.name: knob for knob in knobs}
    made = _curves(config, specs)
    _lay_windows(config, specs, made)
    for channel in config.schedules.adaptive:
        _check_knob(channel.knob, "an adaptive channel turns", config, specs)
        _check_signal(channel, config, specs)
        _check_pace(channel, config)
        beneath = made.get(channel.knob) or Fixed(channel.knob, _setting(specs, channel.knob))
        made[channel.knob] = AdaptiveChannel(channel, beneath)
    for name, schedule in made.items():
        if name in specs:  # the director says what is wrong with the others
            check_reach(schedule, specs[name])
    return list(made.values())


def _curves(config: RunConfig, specs: dict[str, KnobSpec]) -> dict[str, KnobSchedule]:
    """A curve that is as it always is needs no knob; one that was changed, and finds none, is refused by the director.

    Windows of the price of entropy come first, as they always have: a checkpoint holds schedules in their order.
    """
    given = config.schedules
    made: dict[str, KnobSchedule] = {}
    if given.entropy_windows:
        made["entropy_cost"] = Windows("entropy_cost", _setting(specs, "entropy_cost"), given.entropy_windows)
    for name, usual in _usual_curves().items():
        curve = getattr(given, name)
        if name not in made and (name in specs or curve != usual):
            made[name] = Curve(name, _setting(specs, name), curve, config.planned_updates)
            if name in specs and specs[name].default == 0.0:
                _check_of_nothing(name, curve)
    return made


def _check_of_nothing(name: str, curve: CurveConfig) -> None:
    """A curve is a fraction of the setting. Fading out what is not there is harmless; raising it is a mistake."""
    if curve.highest_fraction > 1.0 or curve.initial_fraction != 1.0 or curve.points:
        raise ConfigError(
            f"schedules.{name} is a fraction of {name}'s setting, which is 0, so it has no effect; set {name}, or "
            "leave the curve out"
        )


def _usual_curves() -> dict[str, CurveConfig]:
    """Each curve's own default."""
    makers = {field.name: field.default_factory for field in fields(SchedulesConfig)}
    made = {name: make() for name, make in makers.items() if make is not MISSING}
    return {name: curve for name, curve in made.items() if isinstance(curve, CurveConfig)}


def _lay_windows(config: RunConfig, specs: dict[str, KnobSpec], made: dict[str, KnobSchedule]) -> None:
    given, last_update = config.schedules, max(config.planned_updates, config.last_update)
    for name in dict.fromkeys(window.knob for window in given.windows):
        _check_knob(name, "a window sets", config, specs)
        windows = [window for window in given.windows if window.knob == name]
        for window in windows:
            if window.first > last_update:
                raise ConfigError(
                    f"the window of {name} begins at update {window.first}, and the run ends at {last_update}; begin "
                    "it earlier, or plan more updates"
                )
        made[name] = Windows(name, _setting(specs, name), windows, made.get(name))


def _check_knob(name: str, who: str, config: RunConfig, specs: dict[str, KnobSpec]) -> None:
    """Refuse to turn what is not there, and what nothing is there to be turned for."""
    if name not in specs:
        close = difflib.get_close_matches(name, specs, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the knobs here are: {', '.join(sorted(specs))}"
        raise KnobError(f"{who} '{name}', which nothing consumes; {hint}")
    curriculum = config.schedules.curriculum
    if name == "hard_start_share" and (curriculum is None or curriculum.hard_starts is None):
        raise KnobError(
            f"{who} 'hard_start_share', and there are no hard starts; give schedules.curriculum.hard_starts, whose "
            "share and final-fraction say the same"
        )


def _setting(specs: dict[str, KnobSpec], name: str) -> float:
    return specs[name].default if name in specs else 0.0


def _check_signal(channel: AdaptiveConfig, config: RunConfig, specs: dict[str, KnobSpec]) -> None:
    """Refuse a signal that can never appear, where that can be known: worlds say theirs as they go."""
    if channel.by_evaluations and config.evaluation.every_updates == 0:
        raise ConfigError(
            f"{channel.prefix}signal '{channel.signal}' comes with evaluations, and there are none; set "
            "evaluation.every_updates"
        )
    facts = [f"episode/{name}" for name in numeric_facts(config.world)]
    if isinstance(config.world, FishConfig):
        facts.append("episode/first_death_p10")
    of_learners = (*metric_names(config.learner), "collect/scripted_fraction")
    known = {*_OF_EPISODES, *facts, *(f"knob/{name}" for name in specs), *config.evaluation_metrics, *of_learners}
    closed_groups = {name.split("/")[0] for name in known} | GROUPS | {"episode"}
    if channel.signal.split("/")[0] in closed_groups and channel.signal not in known:
        close = difflib.get_close_matches(channel.signal, sorted(known), n=1)
        group = [name for name in sorted(known) if name.split("/")[0] == channel.signal.split("/")[0]]
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(group) or 'none'}"
        raise ConfigError(f"{channel.prefix}signal '{channel.signal}' is no metric of this run; {hint}")


def _check_pace(channel: AdaptiveConfig, config: RunConfig) -> None:
    """Refuse a window that the run is too short to fill, and a cool-down that is over before anything is heard."""
    every = config.evaluation.every_updates if channel.by_evaluations else 1
    heard = max(config.planned_updates, config.last_update) // every
    if channel.window > heard:
        what = "evaluations" if channel.by_evaluations else "updates"
        raise ConfigError(
            f"{channel.prefix}window is {channel.window}, and the whole plan has {heard} {what}, so it would never "
            "move; take a shorter window"
        )
    if 0 < channel.cooldown_updates < every:
        raise ConfigError(
            f"{channel.prefix}cooldown-updates ({channel.cooldown_updates}) end before the next evaluation, {every} "
            "updates later, and are never felt; take more or none"
        )
