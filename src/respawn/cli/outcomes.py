"""What came of an episode, as data and in one line."""

from typing import Any

from respawn.contracts.records import Episode


def outcome(seed: int, episode: Episode, fish: int | None = None) -> dict[str, Any]:
    """The facts of an episode; `cleared` is None in a world that has no levels.

    Args:
      seed: that it was played from.
      episode: what came of it.
      fish: how many there were, if it is one of a school.
    """
    facts = episode.facts
    return {
        "seed": seed,
        "end": episode.end,
        "cleared": bool(facts["cleared"]) if "cleared" in facts else None,
        "return": episode.episode_return,
        "steps": episode.length,
        **{name: facts[name] for name in ("level", "x", "seconds") if name in facts},
        **({} if fish is None else {"alive": int(facts["alive"]), "fish": fish}),
    }


def told(came_of: dict[str, Any]) -> str:
    """An outcome for people."""
    if "fish" in came_of:
        return f"{came_of['alive']} of {came_of['fish']} fish alive after {came_of['steps']:,} steps"
    if came_of["cleared"] is None:
        return f"return {came_of['return']:.2f} after {came_of['steps']:,} steps ({came_of['end']})"
    verdict = "cleared" if came_of["cleared"] else f"not cleared ({came_of['end']})"
    return f"{came_of['level']} {verdict}, x {came_of['x']:.0f}, {came_of['seconds']:.1f} s, {came_of['steps']:,} steps"
