"""How long does a draw by priority take: the sum tree, running sums on the device, numpy.random.choice?"""

import argparse
import sys

import torch

from harness import keep, show
from respawn.memory.measure_samplers import measure_samplers

SIZES = (100_000, 1_000_000)
DRAWS = 256


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--device", default="cpu", help="where the running sums are")
    options = parser.parse_args()
    device = torch.device(options.device)
    found = {str(size): measure_samplers(size, DRAWS, options.rounds, device) for size in SIZES}
    columns = ("entries", "NumPy ms", "tree ms", "device ms", "tree x", "device x")
    names = ("numpy_ms", "tree_ms", "device_ms", "tree_times_numpy", "device_times_numpy")
    rows = [(f"{int(size):,}", *(row[name] for name in names)) for size, row in found.items()]
    show(f"{DRAWS} entries, median of {options.rounds}", columns, rows)
    keep(
        f"replay_sampling_{device.type}",
        __doc__ or "",
        {"draws": DRAWS, "rounds": options.rounds, "device": options.device, "sizes": found},
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
