"""Helps for a cold start: what must be known of the world before they are built, and what of them is said aloud."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from respawn.collection.probing import Probed, probe_actions
from respawn.contracts.records import Event, Ruling
from respawn.contracts.world import World, WorldSpec
from respawn.errors import ConfigError
from respawn.schedules.progression import NAME, Progression
from respawn.schedules.progression_config import ProgressionConfig
from respawn.schedules.script_text import names_of_actions, parse_script
from respawn.training.config import RunConfig
from respawn.training.reporter import RECENT_EPISODES
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.registry import numeric_facts

WATCHED = (
    "return/mean", "return/p10", "return/p50", "return/p90", "return/max",
    "length/mean", "episodes/terminated_fraction",
)  # fmt: skip
"""What progress may be measured by in every world, beside what its episodes have to say."""

PAUSES = (
    "a script presses START, which pauses the game here: episodes begin in the level, not on the title screen, so what "
    "comes after it in the script moves nothing; leave START out"
)


def make_progression(config: RunConfig, world: World, notify: Callable[[Event], None]) -> tuple[Progression, ...]:
    """The schedule that forces actions, if anything is to be forced or watched; raises ConfigError if it cannot be.

    Args:
      config: of the run.
      world: the one that the run learns in; if actions are tried there, it is put back.
      notify: is told what trying them showed.
    """
    settings = config.schedules.progression
    if not settings.says_anything:
        return ()
    known = (*WATCHED, *(f"episode/{name}" for name in numeric_facts(config.world)))
    if settings.metric and settings.metric not in known:
        raise ConfigError(f"schedules.progression.metric must be one of {', '.join(known)}, not '{settings.metric}'")
    probed = None
    if settings.probe_decisions:
        names = names_of_actions(world.spec)
        tried = probe_actions(world, settings.probe_decisions)
        probed = names[tried[0].action] if _leads_on(tried, world.spec) else None
        notify(_told(tried, names, probed, settings.probe_decisions))
    # Episodes that were under way at the last forced decision end after it, and are not the policy's own either.
    under_way = config.collection.num_worlds * world.spec.num_lanes // world.spec.lanes_per_episode
    progression = Progression(
        settings,
        world.spec,
        probed=probed,
        settling_episodes=RECENT_EPISODES + under_way,
        most_lag=config.collection.greatest_lag,
    )
    if isinstance(config.world, MarioConfig) and _presses_start(settings):
        notify(Event("script_presses_start", PAUSES, "warning"))
    return (progression,)


def _presses_start(settings: ProgressionConfig) -> bool:
    plateau = parse_script(settings.plateau_script) if settings.plateau_script else ()
    return any("START" in part.buttons.upper().split("+") for part in (*settings.first_parts, *plateau))


def _leads_on(tried: Sequence[Probed], spec: WorldSpec) -> bool:
    """Whether the best of what was tried led anywhere: further than before, or at least further than the worst."""
    return tried[0].gain > (0.0 if spec.forward_fact else tried[-1].gain)


def _told(tried: Sequence[Probed], names: Sequence[str], probed: str | None, decisions: int) -> Event:
    ranking = ", ".join(f"{names[action]} {gain:g}" for action, gain in tried)
    found = "none leads forward" if probed is None else f"{probed} leads forward"
    message = f"tried each action for {decisions} decisions: {found} ({ranking}); the world is where it was"
    facts = {"action": probed, "decisions": decisions} | {f"gain {names[action]}": gain for action, gain in tried}
    return Event("probed", message, "warning" if probed is None else "info", facts)


def said_aloud(ruling: Ruling) -> tuple[Event, ...]:
    """What people should hear of at once, out of what a schedule concluded."""
    if ruling.schedule != NAME:
        return ()
    facts = ruling.facts
    told = {"update": ruling.update} | {name: value for name, value in facts.items() if not isinstance(value, list)}
    match facts["event"]:
        case "script":
            return (Event("script_begins", _about_script(facts), "info", {**told, "script": _written(facts)}),)
        case "handed_back":
            return (Event("script_over", "the policy decides alone again", "info", told),)
        case "stagnation":
            best = "no episode has ended" if facts["best"] is None else f"its best is {facts['best']:g}"
            message = f"{facts['metric']} has had no new best for {facts['updates']} updates: {best}"
            return (Event("stagnation", message, "warning", told),)
    return (Event("forward_action", f"forward is {facts['action']}, says the {facts['source']}", "info", told),)


def _about_script(facts: Mapping[str, Any]) -> str:
    when = "at the start of each episode" if facts["each_episode"] else "in each lane"
    lacking = "gained too little" if facts["reason"] == "plateau" else "had no new best"
    why = "" if "since" not in facts else f", for {facts['metric']} has {lacking} since update {facts['since']}"
    return f"{facts['reason']}: {_written(facts)} is forced for {facts['decisions']} decisions {when}{why}"


def _written(facts: Mapping[str, Any]) -> str:
    return ",".join(f"{name}:{decisions}" for name, decisions in facts["parts"])
