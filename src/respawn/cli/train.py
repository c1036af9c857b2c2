"""respawn train PRESET [--field value …]."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from respawn.cli.arguments import parse
from respawn.cli.closing import tell_closing
from respawn.errors import ConfigError
from respawn.presets import DESCRIPTIONS, find_preset
from respawn.training.config import RunConfig
from respawn.training.launch import begin

USAGE = """usage: respawn train PRESET [--field value ...]

Train an agent. A new run folder is made under --runs; nothing older is touched.

presets:
{presets}

options that every preset has:
  --updates N      stop after N updates (without it: at the end of the preset's plan)
  --minutes M      stop after M minutes of training
  --seed S         decides every random number of the run
  --name NAME      what to call the run
  --device D       cpu, cuda, cuda:1; auto takes a GPU where there is one
  --runs DIR       the folder that holds the runs (default: runs)

'respawn train PRESET --help' lists every field of that preset."""


@dataclass(frozen=True)
class TrainArguments:
    """Train an agent."""

    name: str | None = None
    """what to call the run; none: preset, seed and time"""
    runs: Path = Path("runs")
    """the folder that holds the runs"""
    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)


def main(words: list[str]) -> int:
    """Train from a preset."""
    if words and words[0] in ("-h", "--help"):
        print(USAGE.format(presets="\n".join(f"  {name:<20} {text}" for name, text in DESCRIPTIONS.items())))
        return 0
    if not words or words[0].startswith("-"):
        raise ConfigError(
            f"name a preset first, as in 'respawn train cartpole-ppo'; there are: {', '.join(DESCRIPTIONS)}"
        )
    preset = words[0]
    default = TrainArguments(config=find_preset(preset))
    arguments = parse(TrainArguments, words[1:], f"respawn train {preset}", default)
    folder, outcome = begin(arguments.config, preset=preset, runs_dir=arguments.runs, name=arguments.name)
    tell_closing(folder, outcome)
    return outcome.exit_code
