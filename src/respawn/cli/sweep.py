"""respawn sweep PRESET [--trials N …], sweep show NAME, sweep space PRESET, sweep drop NAME TRIAL."""

import importlib.util
import textwrap

from respawn.cli.arguments import HELP
from respawn.cli.train import preset_of, with_whole_rom_option, without_config_option
from respawn.errors import ConfigError
from respawn.presets import DESCRIPTIONS, check_preset_name

USAGE = """usage: respawn sweep PRESET [--option value ...]
       respawn sweep show NAME    how a study is doing, without going on with it
       respawn sweep space PRESET what is searched without --space, as TOML
       respawn sweep drop NAME TRIAL   give up a trial whose machine is gone

Train many runs of a preset with other settings, to find out which are best.
Typed again, it goes on; typed in a second terminal, both work on one study.

presets:
  {presets}

options of a sweep:
  --trials N    runs in the study, all counted (default: 20)
  --name NAME   of the study; trials are the runs NAME-t0000, ... Without it:
                the preset
  --workers W   runs at a time, each in a process of its own (default: 1)
  --space FILE  TOML: what to search, as learner.clip = {{low = 0.1, high = 0.4}}
                or model.core = ["none", "gru"]; 'respawn sweep space' has one
  --objective M the metric of evaluations that counts. Without it: the levels
                cleared, the fish that survive, or else the return
  --direction   maximise (the default) or minimise
  --score       final (the default): mean of a run's last three evaluations;
                mean: of all of them; best: the best of them
  --sampler     tpe (the default) or random
  --pruner      median (the default), hyperband or none: what cuts runs short
  --finalists K best runs that are judged again on fresh seeds (default: 3),
                each in --final-episodes N (default: 100)
  --storage URL any of Optuna's, or journal:FILE; temporary: keep no study.
                Without it: study.db in the study's folder
  --sweeps DIR  the folder that holds studies (default: sweeps)
  --runs DIR    the folder that holds the runs (default: runs)
  --json        print what came of it as JSON

and all options of 'respawn train PRESET', which hold for every run: --updates
for how long each trains, --seed for the first one's seed, --config FILE.

examples:
  respawn sweep cartpole-vtrace --trials 16
  respawn sweep mario --updates 60 --trials 30 --workers 2
  respawn sweep show mario"""


def main(words: list[str]) -> int:
    """Search for the best settings of a preset."""
    if words and words[0] in HELP:
        listed = textwrap.wrap(", ".join(DESCRIPTIONS), 76, break_on_hyphens=False)
        print(USAGE.format(presets="\n  ".join(listed)))
        return 0
    _check_optuna()
    if words and words[0] == "show":
        from respawn.cli.sweep_show import show

        return show(words[1:])
    if words and words[0] == "space":
        from respawn.cli.sweep_show import show_space

        return show_space(words[1:])
    if words and words[0] == "drop":
        from respawn.cli.sweep_drop import drop

        return drop(words[1:])
    words, config_file = without_config_option(words)
    named = preset_of(config_file)
    if not words or words[0].startswith("-"):
        if named is None:
            raise ConfigError("'respawn sweep' wants a PRESET, and none came; see 'respawn sweep --help'")
        words = [named, *words]
    check_preset_name(words[0])
    if named not in (None, words[0]):
        raise ConfigError(
            f"{config_file} is for the preset {named}, and {words[0]} was asked for; leave out one of them"
        )
    # Imported only now: what is above needs no torch, which takes seconds to load.
    from respawn.cli.sweep_run import sweep

    return sweep(words[0], with_whole_rom_option(words[1:]), config_file)


def _check_optuna() -> None:
    if importlib.util.find_spec("optuna") is None:
        raise ConfigError("'respawn sweep' needs Optuna, which is not installed; install it with: pip install optuna")
