"""How much faster is an update when collecting goes on while learning (lag 1)?"""

import json
import subprocess
import sys

from harness import keep, show

CASES = {
    "cartpole-ppo": ["cartpole-ppo"],
    "cartpole-ppo, 32 lanes": ["cartpole-ppo", "--lanes", "32"],
    "cartpole-vtrace, 32 lanes of 64 steps": ["cartpole-vtrace", "--lanes", "32", "--horizon", "64"],
    "memory-gru": ["memory-gru"],
}


def main() -> int:
    results = {}
    for name, arguments in CASES.items():
        command = [sys.executable, "-m", "respawn", "bench", "overlap", *arguments, "--json"]
        results[name] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = [
        (
            name,
            1000 * r["lag_0"]["collect_seconds"],
            1000 * r["lag_0"]["learn_seconds"],
            1000 * r["lag_0"]["total_seconds"],
            1000 * r["lag_1"]["total_seconds"],
            r["ratio"],
        )
        for name, r in results.items()
    ]
    show("milliseconds an update", ("run", "collect", "learn", "lag 0", "lag 1", "ratio"), rows)
    keep("overlap_gain", __doc__ or "", {"runs": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
