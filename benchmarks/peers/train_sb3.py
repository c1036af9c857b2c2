"""Stable-Baselines3 2.9.2: its PPO on our world, as a peer of `respawn train` (see `respawn bench train`).

Started with `--plan JSON` (see `respawn.training.bench_peer.peer_plan`), it makes one update and prints `ready`, or
`missing PACKAGE`; what follows is told in serving.py. It is given what we are given: the same world, lanes, horizon,
passes, minibatches and the very same network, layers that policy and value share and a head for each, which in SB3 is
a features extractor with nothing after it. Its environments are those that its users would make (`make_vec_env`,
a DummyVecEnv of single environments), or all lanes in one call.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from serving import answer


def make(plan: dict[str, Any]) -> Callable[[], int]:
    """A PPO whose every call collects and learns once, and answers how many decisions that were."""
    import stable_baselines3  # noqa: F401  # the first to be missed, by its own name
    import torch
    from sb3_vector import SB3VectorEnv
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    import respawn  # noqa: F401  # registers respawn/Mario-v0

    class SharedLayers(BaseFeaturesExtractor):
        def __init__(self, observation_space: Any) -> None:
            sizes = (math.prod(observation_space.shape), *plan["hidden_sizes"])
            super().__init__(observation_space, sizes[-1])
            bend = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}[plan["activation"]]
            layers = [layer for size, wider in pairwise(sizes) for layer in (torch.nn.Linear(size, wider), bend())]
            self.layers = torch.nn.Sequential(*layers)

        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            return self.layers(observations)

    torch.set_num_threads(plan["threads"])
    lanes = plan["lanes"]
    if plan["vector"]:
        env = SB3VectorEnv(num_envs=lanes, facts=False, **plan["world"])
    else:
        env = make_vec_env("respawn/Mario-v0", n_envs=lanes, seed=0, env_kwargs=plan["world"])
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=plan["horizon"],
        n_epochs=plan["epochs"],
        batch_size=lanes * plan["horizon"] // plan["minibatches"],
        policy_kwargs={"features_extractor_class": SharedLayers, "net_arch": []},
        seed=0,
        device="cpu",
        **plan["ppo"],
    )

    def update() -> int:
        before = model.num_timesteps
        model.learn(total_timesteps=lanes * plan["horizon"], reset_num_timesteps=False)
        return model.num_timesteps - before

    return update


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plan", type=json.loads, required=True)
    plan = parser.parse_args().plan
    answer(lambda: make(plan), warmup_steps=plan["warmup_updates"])


if __name__ == "__main__":
    sys.exit(main())
