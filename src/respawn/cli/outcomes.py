"""What came of an episode, as data and in one line."""

from typing import Any

from respawn.contracts.records import Episode

_OF_MARIO = ("level", "x", "seconds")
"""Facts that the sentence about a level is made of, besides `cleared`."""


def outcome(seed: int, episode: Episode, fish: int | None = None) -> dict[str, Any]:
    """The facts of an episode; `cleared` is None in a world that does not say.

    Args:
      seed: that it was played from.
      episode: what came of it.
      fish: how many there were, if it is one of a school.
    """
    facts = episode.facts
    cleared = facts.get("cleared")
    return {
        "seed": seed,
        "end": episode.end,
        "cleared": bool(cleared) if isinstance(cleared, int | float) else None,
        "return": episode.episode_return,
        "steps": episode.length,
        **{name: facts[name] for name in _OF_MARIO if name in facts},
        **({} if fish is None else {"alive": int(facts["alive"]), "fish": fish}),
    }


def told(came_of: dict[str, Any]) -> str:
    """An outcome for people."""
    if "fish" in came_of:
        return f"{came_of['alive']} of {came_of['fish']} fish alive after {came_of['steps']:,} steps"
    if not _is_of_mario(came_of):
        return f"return {came_of['return']:.2f} after {came_of['steps']:,} steps ({came_of['end']})"
    verdict = "cleared" if came_of["cleared"] else f"not cleared ({came_of['end']})"
    return f"{came_of['level']} {verdict}, x {came_of['x']:.0f}, {came_of['seconds']:.1f} s, {came_of['steps']:,} steps"


def _is_of_mario(came_of: dict[str, Any]) -> bool:
    """Whether there is all that the sentence takes: an environment may call facts of its own by some of the names."""
    measured = (came_of["cleared"], came_of.get("x"), came_of.get("seconds"))
    return "level" in came_of and all(isinstance(number, int | float) for number in measured)
