"""What came of an episode, as data and in one line."""

from typing import Any

from respawn.contracts.records import Episode


def outcome(seed: int, episode: Episode) -> dict[str, Any]:
    """The facts of an episode; `cleared` is None in a world that has no levels."""
    facts = episode.facts
    return {
        "seed": seed,
        "end": episode.end,
        "cleared": bool(facts["cleared"]) if "cleared" in facts else None,
        "return": episode.episode_return,
        "steps": episode.length,
        **{name: facts[name] for name in ("level", "x", "seconds") if name in facts},
    }


def told(came_of: dict[str, Any]) -> str:
    """An outcome for people."""
    if came_of["cleared"] is None:
        return f"return {came_of['return']:.2f} after {came_of['steps']:,} steps ({came_of['end']})"
    verdict = "cleared" if came_of["cleared"] else f"not cleared ({came_of['end']})"
    return f"{came_of['level']} {verdict}, x {came_of['x']:.0f}, {came_of['seconds']:.1f} s, {came_of['steps']:,} steps"
