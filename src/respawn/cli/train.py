"""respawn train [PRESET] [--field value …]."""

from pathlib import Path

from respawn.cli.arguments import HELP
from respawn.presets import DESCRIPTIONS, check_preset_name

DEFAULT_PRESET = "mario"

USAGE = """usage: respawn train [PRESET] [--option value ...]

Train an agent; without PRESET, mario. A new run folder is made under --runs;
nothing older is touched.

presets:
{presets}

options that every preset has:
  --updates N   stop after N updates; without it: at the end of the plan
  --minutes M   stop after M minutes of training
  --seed S      decides every random number of the run
  --name NAME   what to call the run; without it: preset, seed and time
  --device D    cpu, cuda, cuda:1; auto (the default): a GPU if there is one
  --runs DIR    the folder that holds the runs (default: runs)

and every Mario preset:
  --rom FILE    the game, where 'respawn doctor rom' finds none; --world.rom

examples:
  respawn train
  respawn train mario --world.levels 1-2 --seed 1
  respawn train cartpole-ppo --seed 1 --name first
  respawn train cartpole-ppo --world.env-id Acrobot-v1 --updates 300

'respawn train PRESET --help' lists every option of that preset."""


def main(words: list[str]) -> int:
    """Train from a preset."""
    if words and words[0] in HELP:
        print(USAGE.format(presets="\n".join(f"  {name:<20} {text}" for name, text in DESCRIPTIONS.items())))
        return 0
    if not words or words[0].startswith("-"):
        words = [DEFAULT_PRESET, *words]
    check_preset_name(words[0])
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.new_run import train

    return train(words[0], with_whole_rom_option(words[1:]))


def with_whole_rom_option(words: list[str]) -> list[str]:
    """The same words with --world.rom for --rom, and the file by a path that holds from any folder."""
    options = ("--rom", "--world.rom")
    whole: list[str] = []
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in options:
            whole.append(f"--world.rom={_from_anywhere(value)}" if equals else "--world.rom")
        elif place > 0 and words[place - 1] in options and not word.startswith("-"):
            whole.append(_from_anywhere(word))
        else:
            whole.append(word)
    return whole


def _from_anywhere(path: str) -> str:
    return str(Path(path).expanduser().absolute()) if path else path
