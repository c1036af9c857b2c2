"""respawn train PRESET [--field value …]."""

from respawn.cli.arguments import HELP
from respawn.errors import ConfigError
from respawn.presets import DESCRIPTIONS, check_preset_name

USAGE = """usage: respawn train PRESET [--option value ...]

Train an agent. A new run folder is made under --runs; nothing older is touched.

presets:
{presets}

options that every preset has:
  --updates N   stop after N updates; without it: at the end of the plan
  --minutes M   stop after M minutes of training
  --seed S      decides every random number of the run
  --name NAME   what to call the run; without it: preset, seed and time
  --device D    cpu, cuda, cuda:1; auto (the default): a GPU if there is one
  --runs DIR    the folder that holds the runs (default: runs)

examples:
  respawn train cartpole-ppo --seed 1 --name first
  respawn train cartpole-ppo --world.env-id Acrobot-v1 --updates 300

'respawn train PRESET --help' lists every option of that preset."""


def main(words: list[str]) -> int:
    """Train from a preset."""
    if words and words[0] in HELP:
        print(USAGE.format(presets="\n".join(f"  {name:<20} {text}" for name, text in DESCRIPTIONS.items())))
        return 0
    if not words or words[0].startswith("-"):
        came = f"'{words[0]}' came first" if words else "nothing came"
        raise ConfigError(
            f"'respawn train' wants a preset, and {came}; write 'respawn train cartpole-ppo', "
            f"or another of: {', '.join(DESCRIPTIONS)}"
        )
    check_preset_name(words[0])
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.new_run import train

    return train(words[0], words[1:])
