"""Stable-Baselines3's PPO as a case of `respawn bench train`: what it is told, and where it can be compared at all."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from respawn.collection.config import CollectionConfig
from respawn.errors import WorldError
from respawn.learners.ppo.config import PPOConfig
from respawn.training.bench_matrix import Entry
from respawn.training.bench_process import CaseMissingError
from respawn.training.bench_watch import Watch
from respawn.training.config import RunConfig
from respawn.training.device import resolve_threads
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.measure_peers import ANSWER_SECONDS, Peer, PeerFailedError, PeerMissingError

SCRIPT = "train_sb3.py"
PEERS = {"sb3": False, "sb3_vector": True}
"""Stable-Baselines3 as its users have it, a list of environments, and with all lanes in one call."""


def why_alone(config: RunConfig) -> str:
    """Why Stable-Baselines3's PPO cannot do the same; empty: it can."""
    if not isinstance(config.world, MarioConfig) or config.world.observation != "tiles":
        return "it does not see Mario's tiles"
    if not isinstance(config.learner, PPOConfig):
        return "its learner is not PPO"
    plain = config.model.core == "none" and not config.model.noisy and not config.model.separate_value
    if not plain or config.model.encoder == "impala":
        return "its network is more than plain layers"
    if config.collection.greatest_lag > 0:
        return "it collects beside learning"
    return ""


def peer_entries(
    config: RunConfig, collection: CollectionConfig, seconds: float, folder: Path, python: str
) -> list[Entry]:
    """An entry for each peer and number of threads: a thread a core, as torch does by itself, and one.

    Args:
      config: that we train ourselves.
      collection: instead of the configuration's own.
      seconds: of each turn.
      folder: with the peer's script.
      python: what runs it.
    """
    entries = []
    for name, vector in PEERS.items():
        for threads in sorted({1, resolve_threads(0)}):
            told = json.dumps(peer_plan(config, collection, vector=vector, threads=threads))
            sizes = {"num_envs": collection.num_lanes, "rollout": collection.horizon_steps}
            facts = {"mode": name, **sizes, "lag": 0, "actors": 0, "threads": threads}
            make = partial(PeerCase, folder / SCRIPT, told, python, threads, seconds)
            entries.append(Entry(make, facts, threads, longest_turn=seconds + ANSWER_SECONDS))
    return entries


def peer_plan(config: RunConfig, collection: CollectionConfig, *, vector: bool, threads: int) -> dict[str, Any]:
    """What a peer is told: plain data, all of it from the configuration that we train ourselves."""
    assert isinstance(config.world, MarioConfig) and isinstance(config.learner, PPOConfig)
    learner = config.learner
    return {
        "world": {name: value for name, value in asdict(config.world).items() if name != "kind"},
        "vector": vector,
        "threads": threads,
        "warmup_updates": 1,
        "lanes": collection.num_lanes,
        "horizon": collection.horizon_steps,
        "epochs": learner.epochs,
        "minibatches": learner.minibatches,
        "hidden_sizes": config.model.hidden_sizes,
        "activation": config.model.activation,
        "ppo": {
            "learning_rate": learner.optimizer.learning_rate,
            "gamma": learner.discount,
            "gae_lambda": learner.trace_decay,
            "clip_range": learner.clip,
            "ent_coef": learner.entropy_cost,
            "vf_coef": learner.value_cost,
            "max_grad_norm": learner.optimizer.gradient_norm or 1e9,
            "normalize_advantage": learner.normalise_advantages,
        },
    }


class PeerCase:
    """A peer that trains for a while each time it is asked.

    Args:
      script: what to run.
      told: its plan, as JSON.
      python: what runs it.
      threads: how many its libraries may compute with.
      seconds: of each turn.
    """

    def __init__(self, script: Path, told: str, python: str, threads: int, seconds: float) -> None:
        self._seconds = seconds
        with _failures_told():
            self._peer = Peer(script, ["--plan", told], python, threads=threads)

    def turn(self) -> dict[str, Any]:
        """Ask it to train, and say how it went by its own clock."""
        with Watch() as watch, _failures_told():
            timing = self._peer.run(self._seconds)
        own = {"seconds": timing.seconds, "cpu_seconds": timing.cpu_seconds, "decisions": timing.count}
        return {**watch.taken, **own}

    def close(self) -> None:
        """End it."""
        self._peer.close()


@contextlib.contextmanager
def _failures_told() -> Iterator[None]:
    try:
        yield
    except PeerMissingError as missing:
        raise CaseMissingError(str(missing)) from None
    except PeerFailedError as error:
        raise WorldError(f"the peer {error}") from None
