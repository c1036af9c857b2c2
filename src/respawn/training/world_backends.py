"""The worlds that can be tried: which there are, what each needs, and its configuration."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import respawn
from respawn.errors import ConfigError
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.foreign.config import ForeignConfig
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.rom import find_rom
from respawn.worlds.registry import WorldConfig

ENGINE, FISH, GYMNASIUM, PEER = "engine", "fish", "gymnasium", "gym-super-mario-bros"
BACKENDS = (ENGINE, FISH, GYMNASIUM, PEER)
SHIM = "gym_super_mario_bros_shim"
"""the module, outside the package, that registers the peer's environments"""
PEER_ENV = "peer/SuperMarioBros-1-1-v0"
_PEER_PACKAGES = {
    "gym_super_mario_bros": "gym-super-mario-bros==7.4.0",
    "nes_py": "nes-py==8.2.1",
    "gym": "gym==0.26.2",
}
_WORKERS_SHARE = 0.5
"""Of a trial's time, what one stage in a worker may take: so its supervisor can still say where it stood."""


@dataclass(frozen=True)
class TrialPlan:
    """All that a trial is told; plain data."""

    trial: int
    """counted from 1"""
    backend: str
    num_lanes: int
    workers: int
    """processes that share the lanes; 0: in the trial's own"""
    seed: int
    steps: int
    limit_seconds: float
    """for all of it"""
    env_id: str = "CartPole-v1"
    """of the backend gymnasium"""
    imports: tuple[str, ...] = ()


def world_config(plan: TrialPlan) -> WorldConfig:
    """The world that a trial makes."""
    if plan.backend == ENGINE:
        return MarioConfig(observation="pixels")  # the whole of it, pictures included
    if plan.backend == FISH:
        return FishConfig(fish=plan.num_lanes)  # one school
    stage_seconds = max(plan.limit_seconds * _WORKERS_SHARE, 0.001)
    return ForeignConfig(
        env_id=PEER_ENV if plan.backend == PEER else plan.env_id,
        imports=(SHIM,) if plan.backend == PEER else tuple(plan.imports),
        workers=plan.workers,
        construct_seconds=stage_seconds,
        reset_seconds=stage_seconds,
        step_seconds=stage_seconds,
        max_replacements=0,  # a run would go on with another worker; here each loss is what is looked for
    )


def uses_workers(backend: str) -> bool:
    """Whether a backend's lanes live in worker processes."""
    return backend in (GYMNASIUM, PEER)


def check_backend(backend: str) -> None:
    """Raise where a backend cannot be tried here, with what would have to be done."""
    if backend == ENGINE:
        find_rom()
    if backend != PEER:
        return
    missing = [wanted for module, wanted in _PEER_PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise ConfigError(f"{PEER} cannot be tried: pip install {' '.join(missing)}, or run 'make peers'")
    if shim_folder() is None:
        raise ConfigError(
            f"{PEER} cannot be tried: {SHIM}.py, which makes it run under NumPy 2, is in the folder benchmarks of the "
            "source tree only; install respawn from there, or put that folder on PYTHONPATH"
        )


def shim_folder() -> Path | None:
    """Where the shim is; None where respawn is installed without its source tree and it cannot be imported either."""
    folder = Path(respawn.__file__).resolve().parents[2] / "benchmarks"
    if (folder / f"{SHIM}.py").is_file():
        return folder
    found = importlib.util.find_spec(SHIM)
    return None if found is None or found.origin is None else Path(found.origin).parent
