"""One trial of a world, in a process of its own: construct, reset, many steps, and a file that says how it went.

What it prints is nobody's business: only the file counts, and it is there whole or not at all.
"""

import faulthandler
import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from respawn.contracts.world import ContinuousActions, DiscreteActions, World, WorldSpec
from respawn.errors import RespawnError, WorldError
from respawn.processes.lifeline import live_and_die_with
from respawn.processes.marks import Marks
from respawn.runs.json_files import write_json_atomically
from respawn.training.world_backends import TrialPlan, world_config
from respawn.worlds.registry import construct_world
from respawn.worlds.seeds import lane_seeds

MARKS = 10
"""how often the steps of a trial leave a mark, so that one that ends badly says how far it came"""


@dataclass
class _Outcome:
    """What is known of a trial so far."""

    construct_seconds: float | None = None
    reset_seconds: float | None = None
    step_seconds: float | None = None
    """of all steps together"""
    steps_done: int = 0
    episodes: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    ok: bool = False
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "ends": dict(self.ends)}


def main() -> int:
    """Carry out the plan in the folder that is named, and leave the result beside it.

    The words are the parent's process id, the descriptor of the lifeline to it, and the folder.
    """
    parent, lifeline, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    live_and_die_with(parent, lifeline)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    plan = TrialPlan(**json.loads((folder / "plan.json").read_text()))
    outcome = _Outcome()
    marks = Marks(folder / "trial.jsonl", plan.trial, kind="trial")
    try:
        _try(plan, folder, outcome, marks)
        outcome.ok = True
    except RespawnError as problem:
        outcome.error = str(problem)
    except Exception as problem:  # noqa: BLE001  # the edge of the process: told in the result
        outcome.error = f"{type(problem).__name__}: {problem}"
        marks.write("error", traceback=traceback.format_exc())
    write_json_atomically(folder / "result.json", outcome.as_json())
    return 0 if outcome.ok else 1


def _try(plan: TrialPlan, folder: Path, outcome: _Outcome, marks: Marks) -> None:
    torch.set_num_threads(1)
    marks.write("construct")
    world, outcome.construct_seconds = _timed(
        lambda: construct_world(world_config(plan), plan.num_lanes, device=torch.device("cpu"), diagnostics=folder)
    )
    try:
        marks.write("reset")
        first, outcome.reset_seconds = _timed(lambda: world.reset(lane_seeds(plan.seed, plan.num_lanes)).clone())
        _check_finite(first, "reset")  # what is not finite differs from all, so a dummy could show nothing else
        _walk(world, first, plan, outcome, marks)
    finally:
        marks.write("close")
        world.close()


def _walk(world: World, first: Tensor, plan: TrialPlan, outcome: _Outcome, marks: Marks) -> None:
    """Random steps; a lane that shows the same from the first to the last is a dummy, and no success."""
    generator = torch.Generator().manual_seed(plan.seed)
    changed = torch.zeros(plan.num_lanes, dtype=torch.bool)  # [B]
    every = max(plan.steps // MARKS, 1)
    began = time.perf_counter()
    for step in range(plan.steps):
        if step % every == 0:
            marks.write("step", steps_done=step)
        result = world.step(draw_actions(world.spec, generator))
        _check_finite(result.observation, f"step {step + 1}")
        changed |= (result.observation != first).flatten(1).any(1)
        outcome.steps_done = step + 1
        outcome.step_seconds = time.perf_counter() - began
        outcome.ends.update(episode.end for episode in result.episodes)
        outcome.episodes += len(result.episodes)
        if not bool(torch.isfinite(result.reward).all()):
            raise WorldError(f"expected finite rewards, got {result.reward.tolist()} in step {step + 1}")
    if not bool(changed.all()):
        still = (~changed).nonzero().flatten().tolist()
        raise WorldError(
            f"expected every lane to show something new within {plan.steps} steps, lanes {still} never did"
        )


def _check_finite(observation: Tensor, when: str) -> None:
    """Raise WorldError where numbers are seen that are none; whole numbers always are."""
    if not observation.is_floating_point():
        return
    seen = torch.isfinite(observation).flatten(1).all(1)  # [B]
    if not bool(seen.all()):
        lanes = (~seen).nonzero().flatten().tolist()
        raise WorldError(f"expected finite observations, lanes {lanes} showed others in {when}")


def draw_actions(spec: WorldSpec, generator: torch.Generator) -> Tensor:
    """Random actions, one a lane."""
    kind = spec.actions
    if isinstance(kind, DiscreteActions):
        return torch.randint(kind.num_actions, (spec.num_lanes,), generator=generator)
    if isinstance(kind, ContinuousActions):
        return torch.randn(spec.num_lanes, kind.size, generator=generator)
    columns = [torch.randint(size, (spec.num_lanes,), generator=generator) for size in kind.sizes]
    return torch.stack(columns, dim=1)


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    answer = call()
    return answer, time.perf_counter() - began


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Not through the interpreter's own end: what a library does there is not part of the trial.
    os._exit(code)
