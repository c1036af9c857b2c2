"""Before a run of fish begins: can its penalty gate open at all, on the schools that it will be judged by?"""

from dataclasses import replace

import torch

from respawn.contracts.clock import Clock
from respawn.contracts.records import Event
from respawn.errors import ConfigError
from respawn.evaluation.fish_evaluator import FishEvaluator
from respawn.schedules.gate_check import GateCeiling, explain_gate, refuse_unsound
from respawn.schedules.gate_config import GateConfig
from respawn.training.config import RunConfig
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.doomed import doomed
from respawn.worlds.fish.world import FishWorld, school_seeds


def check_gate(config: RunConfig, evaluator: FishEvaluator) -> tuple[Event, ...]:
    """Raise ConfigError for a sound gate that nobody can pass; explain what stands in the way of a legacy one.

    Args:
      config: of the run.
      evaluator: knows which schools each evaluation plays.
    """
    curriculum = config.schedules.curriculum
    gate = None if curriculum is None else curriculum.gate
    if curriculum is None or gate is None:
        return ()
    if config.evaluation.every_updates == 0:
        raise ConfigError("a penalty gate moves on evaluations, and there are none: set evaluation.every-updates")
    lock = curriculum.penalty_lock
    gate = replace(gate, lock_until=gate.lock_until or (0 if lock is None else lock.until))
    lists = _evaluations(config, evaluator)
    ceilings = {updates: _ceiling(config, seeds) for updates, seeds in lists.items()}
    if not ceilings:  # a run too short for any evaluation: what contradicts itself does so all the same
        ceilings = {(): GateCeiling()}
    if gate.mode == "sound":
        for ceiling in ceilings.values():
            refuse_unsound(gate, ceiling)
        return ()
    return tuple(Event("gate_check", sentence, "warning") for sentence in explanations(gate, ceilings))


def explanations(gate: GateConfig, ceilings: dict[tuple[int, ...], GateCeiling]) -> list[str]:
    """What stands in a gate's way, one sentence a limit, with the evaluations that it concerns."""
    concerned: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for updates, ceiling in ceilings.items():
        for sentence in explain_gate(gate, ceiling):
            what, _, why = sentence.partition(", because ")
            concerned.setdefault(what, []).append((updates, why))
    told = []
    for what, cases in concerned.items():
        if not cases[0][1] or len(ceilings) == 1:
            told.append(f"the gate: {what}" + (f", because {cases[0][1]}" if cases[0][1] else ""))
            continue
        where = ", ".join(str(update) for updates, _ in cases for update in updates)
        reasons = sorted({why for _, why in cases})
        told.append(f"the gate: {what} at update {where}: {' … '.join(dict.fromkeys([reasons[0], reasons[-1]]))}")
    return told


def _evaluations(config: RunConfig, evaluator: FishEvaluator) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Each list of seeds that the run will be judged by, under the updates that it is used at."""
    every = config.evaluation.every_updates
    updates_of: dict[tuple[int, ...], list[int]] = {}
    for update in range(every, config.last_update + 1, every):
        updates_of.setdefault(tuple(evaluator.seeds(Clock(updates=update))), []).append(update)
    return {tuple(updates): seeds for seeds, updates in updates_of.items()}


def _ceiling(config: RunConfig, seeds: tuple[int, ...]) -> GateCeiling:
    """How many are lost whatever anybody does: the schools are begun, not played."""
    assert isinstance(config.world, FishConfig)
    tanks = config.world.as_judged(config.world.judged_fish)
    world = FishWorld(tanks, len(seeds) * tanks.fish, device=torch.device("cpu"))
    world.reset(school_seeds(seeds, tanks.fish))
    assert world.births is not None
    lost = doomed(world.births.fish, world.births.predator)
    return GateCeiling(
        doomed_fraction=float(lost.double().mean()),
        population=lost.numel(),
        horizon=tanks.limit_steps,
        evaluation_every=config.evaluation.every_updates,
        planned_updates=config.last_update,
    )
