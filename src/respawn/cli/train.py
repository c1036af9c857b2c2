"""respawn train [PRESET] [--field value …]."""

from pathlib import Path

from respawn.cli.arguments import HELP
from respawn.errors import ConfigError
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
  --config FILE a TOML file with settings, as in a run's config.json; it may
                name its preset. For what has no option: phases, gates, starts
  --weights-from RUN
                begin with the weights of another run's newest checkpoint;
                RUN@best, RUN@u00000100: of another of its checkpoints

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
    words, config_file = without_config_option(words)
    if not words or words[0].startswith("-"):
        words = [preset_of(config_file) or DEFAULT_PRESET, *words]
    check_preset_name(words[0])
    named = preset_of(config_file)
    if named not in (None, words[0]):
        raise ConfigError(
            f"{config_file} is for the preset {named}, and {words[0]} was asked for; leave out one of them"
        )
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.new_run import train

    return train(words[0], with_whole_rom_option(words[1:]), config_file)


def without_config_option(words: list[str]) -> tuple[list[str], Path | None]:
    """The same words without --config FILE, and the file."""
    left: list[str] = []
    file: str | None = None
    place = 0
    while place < len(words):
        name, equals, value = words[place].partition("=")
        if name == "--config":
            if not equals:
                place += 1
                value = words[place] if place < len(words) else ""
            if not value or value.startswith("--"):
                raise ConfigError("--config wants a TOML file, and nothing came")
            file = value
        else:
            left.append(words[place])
        place += 1
    return left, None if file is None else Path(file).expanduser()


def preset_of(config_file: Path | None) -> str | None:
    """The preset that a file names, if there is one and it does."""
    if config_file is None:
        return None
    from respawn.training.config_file import PRESET, read_config_file

    preset: str | None = read_config_file(config_file).get(PRESET)
    return preset


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
