"""Whether the Respawn that is installed here works with the versions of other packages that are installed beside it.

It needs nothing but the installed package with its extras, and for its last check gym-super-mario-bros, nes-py and gym.
Each check runs in a process of its own, so that one that crashes hides none of the others.

    python tools/compatibility_smoke.py --name oldest --out oldest.json
"""

import argparse
import contextlib
import importlib
import io
import json
import os
import pkgutil
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WATCHED = ("torch", "gymnasium", "numpy", "optuna", "gym-super-mario-bros", "nes-py", "gym")
ONLY_WITH_CUDA = ("triton",)
"""Packages that come with torch's CUDA builds; the module that uses one is imported on a GPU alone."""
LONGEST_SECONDS = 900.0
TINY = [
    *("--collection.horizon-steps", "16", "--collection.num-lanes", "4", "--learner.epochs", "2"),
    *("--learner.minibatches", "2", "--observers.no-console", "--device", "cpu"),
]


def answer(*words: str) -> str:
    """What a respawn command prints; raises with its own sentence if it fails."""
    from respawn.cli.main import main

    said, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint):
        exit_code = main(words)
    if exit_code:
        *_, why = complaint.getvalue().strip().splitlines() or ["not a word"]
        raise RuntimeError(f"respawn {' '.join(words[:2])} answered {exit_code}: {why}")
    return said.getvalue()


def weights(run: str) -> str:
    """The digest of the weights that a run came to."""
    digest: str = json.loads(answer("runs", "show", run, "--json"))["weights_sha256"]
    return digest


def check_imports() -> str:
    """Every module can be imported."""
    import respawn

    names = [
        module.name
        for module in pkgutil.walk_packages(respawn.__path__, "respawn.")
        if not module.name.startswith(("respawn.testing", "respawn.__main__"))
    ]
    left_out = []
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in ONLY_WITH_CUDA:
                raise
            left_out.append(name)
    return f"{len(names) - len(left_out)} modules"


def check_words() -> str:
    """Help of verbs with settings and without, and a mistake that is answered in a sentence."""
    for verb in ("train mario", "evaluate", "policy", "bench world", "runs summary"):
        command = [sys.executable, "-m", "respawn", *verb.split(), "--help"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not done.stdout.startswith("usage: respawn") or done.stderr:
            raise AssertionError(f"'respawn {verb} --help' answered {done.returncode}: {done.stderr.strip()[-300:]}")
    command = [sys.executable, "-m", "respawn", "train", "cartpole-ppo", "--learner.clip", "wide"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 2 or done.stderr.count("\n") != 1:
        raise AssertionError(
            f"expected a sentence and exit code 2, got {done.returncode}: {done.stderr.strip()[-300:]}"
        )
    return "help and refusals"


def check_run() -> str:
    """Three updates of CartPole with all observers, of PPO and of V-trace with a recurrent core."""
    answer("train", "cartpole-ppo", "--updates", "3", "--name", "ppo", *TINY)
    answer("train", "memory-gru", "--updates", "3", "--name", "gru", "--model.core-size", "8", *TINY)
    vtrace = [word for word in TINY if word not in ("--learner.epochs", "--learner.minibatches", "2")]
    answer("train", "cartpole-vtrace", "--updates", "3", "--name", "vtrace", *vtrace)
    rows = [json.loads(line) for line in Path("runs/ppo/updates.jsonl").read_text().splitlines()]
    if len(rows) != 3:
        raise AssertionError(f"expected 3 rows of updates, got {len(rows)}")
    return "3 updates of each of 3 presets"


def check_resume() -> str:
    """A run that was left and resumed ends in the same weights as one that was not."""
    for name, updates in (("whole", "4"), ("left", "2")):
        answer("train", "cartpole-ppo", "--updates", updates, "--name", name, "--seed", "5", *TINY)
    answer("resume", "left", "--updates", "4")
    whole, left = weights("whole"), weights("left")
    if whole != left:
        raise AssertionError(f"expected the same weights, got {whole[:12]} and {left[:12]}")
    return f"weights {whole[:12]}"


def check_sweep() -> str:
    """A study of three trials in a database: two that are drawn, and between them one that was enqueued."""
    Path("space.toml").write_text("learner.clip = { low = 0.1, high = 0.4 }\nmodel.hidden_sizes = [[4], [8, 8]]\n")
    words = ["--name", "small", "--space", "space.toml", "--updates", "2", "--finalists", "1", "--final-episodes", "2"]
    judged = ["--evaluation.every-updates", "1", "--evaluation.episodes", "2", "--evaluation.num-lanes", "2"]
    answer("sweep", "cartpole-ppo", "--trials", "1", *words, *judged, *TINY)
    from optuna.exceptions import UpdateFinishedTrialError

    from respawn.sweeps.storage import load_study

    study, _ = load_study("sqlite:///sweeps/small/study.db", "small")
    study.enqueue_trial({"learner.clip": 0.25})
    answer("sweep", "cartpole-ppo", "--trials", "3", *words, *judged, *TINY)
    states = [trial["state"] for trial in json.loads(answer("sweep", "show", "small", "--json"))["trials"]]
    if states != ["complete"] * 3:
        raise AssertionError(f"expected 3 complete trials, got {', '.join(states)}")
    try:  # what a worker does whose trial was given up elsewhere
        study._storage.set_trial_user_attr(study.trials[0]._trial_id, "late", True)
    except UpdateFinishedTrialError:
        return "3 trials"
    raise AssertionError("a trial that has ended could be changed")


def check_files() -> str:
    """TensorBoard's events, Parquet, a figure and a film are written."""
    for name in ("seen", "other"):
        answer("train", "mario", "--updates", "2", "--name", name, "--world.limit-steps", "20", *TINY)
    answer("runs", "export", "seen", "--to", "exported", "--format", "parquet")
    answer("runs", "compare", "seen", "other", "--figure", "figure.png")
    answer("video", "mario", "--limit-steps", "30", "--out", "film.mp4")
    found = {
        "events of TensorBoard": list(Path("runs/seen/tensorboard").rglob("events*")),
        "Parquet": list(Path("exported").glob("*.parquet")),
        "a figure": list(Path().glob("figure.png")),
        "a film": list(Path().glob("film.mp4")),
    }
    missing = [what for what, files in found.items() if not files or any(not file.stat().st_size for file in files)]
    if missing:
        raise AssertionError(f"nothing was written of: {', '.join(missing)}")
    return ", ".join(found)


def check_gymnasium() -> str:
    """Our worlds by Gymnasium's name and by its own rules."""
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    import respawn  # noqa: F401  registers them

    for name in ("respawn/Mario-v0", "respawn/Fish-v0"):
        with contextlib.closing(gymnasium.make(name)) as env:
            check_env(env.unwrapped, skip_render_check=True)
    with contextlib.closing(gymnasium.make_vec("respawn/Mario-v0", num_envs=2)) as envs:
        envs.reset(seed=1)
        for _ in range(20):
            envs.step(envs.action_space.sample())
    return "make, make_vec, check_env"


def check_engine() -> str:
    """Mario's engine: four lanes, 500 decisions, and back to a state that was kept."""
    from respawn.worlds.mario.config import MarioConfig

    return step_world(MarioConfig(levels=("1-1",)), 4, 500)


def check_codec() -> str:
    """Checkpoints keep tensors and arrays of every kind to the last bit."""
    import numpy as np
    import torch

    from respawn.checkpoints.codec import decode, encode

    kinds = (np.uint8, np.uint16, np.uint32, np.uint64, np.int32, np.int64, np.float32, np.float64, np.bool_)
    state = {np.dtype(kind).name: np.arange(3).astype(kind) for kind in kinds}
    state |= {"torch": torch.arange(3, dtype=torch.bfloat16)}
    found = decode(encode(state))
    for name, kept in state.items():
        if found[name].dtype != kept.dtype or not bool((found[name] == kept).all()):
            raise AssertionError(f"{name}: expected {kept}, got {found[name]}")
    return f"{len(state)} kinds of arrays"


def check_fish() -> str:
    """Schools of fish, in the native pass: 500 steps, and back to a state that was kept."""
    from respawn.worlds.fish import _school  # noqa: F401  the compiled one must be there
    from respawn.worlds.fish.config import FishConfig

    return step_world(FishConfig(fish=8), 32, 500)


def step_world(config: Any, lanes: int, steps: int) -> str:
    """Step a world by drawn actions; go back half way, and find that the same follows."""
    import torch

    from respawn.maths.seeding import make_generator
    from respawn.worlds.registry import make_world

    world = make_world(config, lanes, device=torch.device("cpu"), seed=1)
    dice = make_generator(1, "smoke")
    actions = [torch.randint(world.spec.actions.num_actions, (lanes,), generator=dice) for _ in range(steps)]
    for action in actions[: steps // 2]:
        world.step(action)
    kept = world.state()
    ends: list[tuple[Any, Any]] = []
    for _ in range(2):
        rewards = torch.stack([world.step(action).reward.clone() for action in actions[steps // 2 :]])
        ends.append((rewards, world.observe().clone()))
        world.restore(kept)
    world.close()
    if not all(torch.equal(first, again) for first, again in zip(*ends, strict=True)):
        raise AssertionError("from the same state the same actions led elsewhere")
    return f"{steps * lanes:,} steps of lanes"


def check_shim() -> str:
    """gym-super-mario-bros through the shim: its memory is read live, and without overflow."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import gymnasium

    importlib.import_module("gym_super_mario_bros_shim")  # registers them
    farthest = 0
    with contextlib.closing(gymnasium.make("peer/SuperMarioBros-1-1-v0")) as env:
        env.reset(seed=1)
        env.action_space.seed(1)
        for step in range(1_000):
            # To the right in most steps, so that x passes 256, where bytes would overflow.
            action = 3 if step % 4 else int(env.action_space.sample())
            _, _, terminated, truncated, said = env.step(action)
            farthest = max(farthest, int(said["x"]))
            if terminated or truncated:
                env.reset()
    if farthest <= 256:
        raise AssertionError(f"expected to come past x 256 in 1,000 steps, came to {farthest}")
    return f"1,000 steps, to x {farthest}"


CHECKS: dict[str, Callable[[], str]] = {
    "imports": check_imports,
    "words": check_words,
    "run": check_run,
    "resume": check_resume,
    "codec": check_codec,
    "sweep": check_sweep,
    "files": check_files,
    "gymnasium": check_gymnasium,
    "engine": check_engine,
    "fish": check_fish,
    "shim": check_shim,
}


def run_check(name: str) -> dict[str, Any]:
    """One check in a process and a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="compatibility-") as folder:
        # The installed package is meant, and not the one that lies here; and no GPU, which few machines have.
        environment = {**os.environ, "PYTHONPATH": "", "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "120"}
        command = [sys.executable, str(Path(__file__).resolve()), "--one", name]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"passed": False, "said": f"not done after {LONGEST_SECONDS:g} s"}
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    said = lines[-1] if lines else f"exit code {done.returncode}, and not a word"
    said = said.replace(f"{sys.prefix}{os.sep}", "")  # results are kept, and where they were made is nobody's concern
    return {"passed": done.returncode == 0, "said": said}


def versions() -> dict[str, str | None]:
    """Of the packages that this is about; None: not there."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in WATCHED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def main() -> int:
    """Run one check, or all of them and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", choices=list(CHECKS))
    parser.add_argument("--name", default="here", help="what the combination is called")
    parser.add_argument("--out", type=Path, help="a JSON file for the result")
    arguments = parser.parse_args()
    if arguments.one:
        # Not by -W, which takes the name for that of a single module.
        warnings.filterwarnings("error", category=DeprecationWarning, module=r"respawn(\.|$)")
        print(CHECKS[arguments.one]())
        return 0
    checks: dict[str, dict[str, Any]] = {}
    for name in CHECKS:
        checks[name] = run_check(name)
        verdict = "passed" if checks[name]["passed"] else "FAILED"
        print(f"{name:<10} {verdict}  {checks[name]['said']}", flush=True)
    installed = {package.metadata["Name"]: package.version for package in distributions()}
    result = {
        "name": arguments.name,
        "versions": versions(),
        "installed": dict(sorted(installed.items(), key=lambda item: item[0].lower())),
        "checks": checks,
    }
    if arguments.out is not None:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0 if all(check["passed"] for check in checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
