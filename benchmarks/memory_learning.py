"""Is the recall task solved with a GRU and with a transformer, and is it out of reach without a memory?"""

import sys
from dataclasses import asdict, replace

from harness import keep, show
from learning import train_seeds
from respawn.presets import find_preset

SEEDS = (1, 2, 3)
LEAST_RETURN = 0.95
CHANCE = -0.5
"""Four cues: right one time in four, so 1 · 1/4 - 1 · 3/4."""


def main() -> int:
    gru = find_preset("memory-gru")
    presets = {
        "memory-gru": gru,
        "memory-transformer": find_preset("memory-transformer"),
        "memory-without-core": replace(gru, model=replace(gru.model, core="none")),
    }
    trained = [run for name, config in presets.items() for run in train_seeds(name, config, SEEDS)]
    columns = ("preset", "seed", "decisions", "return", "seconds")
    rows = [(t.preset, t.seed, f"{t.decisions:,}", t.return_mean, t.train_seconds) for t in trained]
    show("recall, 100 greedy episodes", columns, rows)
    solved = all(run.return_mean >= LEAST_RETURN for run in trained if run.preset != "memory-without-core")
    hopeless = all(run.return_mean < CHANCE + 0.3 for run in trained if run.preset == "memory-without-core")
    results = {"solved_with_memory": solved, "hopeless_without": hopeless, "runs": [asdict(run) for run in trained]}
    keep("memory_learning", __doc__ or "", results)
    print("yes" if solved and hopeless else "no")
    return 0 if solved and hopeless else 1


if __name__ == "__main__":
    sys.exit(main())
