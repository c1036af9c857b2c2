"""respawn bench overlap|engine|world|train|replay."""

import importlib

from respawn.cli.arguments import HELP
from respawn.errors import ConfigError

BENCHES = {
    "overlap": "a training that collects in turn, beside learning, or in actors",
    "engine": "decisions a second of the NES engine, beside its peers",
    "world": "steps a second of a world by itself: fish, mario, Gymnasium's",
    "train": "decisions a second of whole trainings, beside Stable-Baselines3",
    "replay": "time to draw by priority, beside numpy.random.choice",
}

USAGE = """usage: respawn bench {names} [...]

{benches}

'respawn bench overlap --help' and the like say more."""


def main(words: list[str]) -> int:
    """Measure."""
    if words and words[0] in HELP:
        benches = "\n".join(f"  {name:<9} {text}" for name, text in BENCHES.items())
        print(USAGE.format(names="|".join(BENCHES), benches=benches))
        return 0
    if not words or words[0] not in BENCHES:
        came = f"not '{words[0]}'" if words else "and nothing came"
        raise ConfigError(f"'respawn bench' wants one of {', '.join(BENCHES)}, {came}; see 'respawn bench --help'")
    # Imported only now: a bench does not wait for what another needs.
    measure = importlib.import_module(f"respawn.cli.bench_{words[0]}").main
    exit_code: int = measure(words[1:])
    return exit_code
