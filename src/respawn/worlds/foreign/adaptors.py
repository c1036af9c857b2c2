"""Exact state of environments that can be known from outside, as plain trees.

Exactness is claimed only when every wrapper round an environment is one whose memory is known here.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import wrappers
from gymnasium.envs.classic_control.acrobot import AcrobotEnv
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.envs.classic_control.continuous_mountain_car import Continuous_MountainCarEnv
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.envs.toy_text.blackjack import BlackjackEnv
from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from gymnasium.envs.toy_text.taxi import TaxiEnv

from respawn.errors import CheckpointError, WorldError
from respawn.worlds.foreign.making import Env

State = dict[str, Any]

# All that changes in each of Gymnasium's own environments from one step to the next, beside its random generator.
# Constants that a constructor sets are left out: a restored environment was made with the same arguments.
ATTRIBUTES: Mapping[type[Env], tuple[str, ...]] = {
    CartPoleEnv: ("state", "steps_beyond_terminated"),
    AcrobotEnv: ("state",),
    MountainCarEnv: ("state",),
    Continuous_MountainCarEnv: ("state",),
    PendulumEnv: ("state", "last_u"),
    FrozenLakeEnv: ("s", "lastaction"),
    CliffWalkingEnv: ("s", "lastaction"),
    TaxiEnv: ("s", "lastaction", "fickle_step", "taxi_orientation"),
    BlackjackEnv: ("dealer", "player", "dealer_top_card_suit", "dealer_top_card_value_str"),
}

# Wrappers that compute and forget. Those with a function of the user's (TransformObservation, ...) are not among them.
FORGETFUL: frozenset[type[Any]] = frozenset(
    {
        wrappers.ClipAction,
        wrappers.ClipReward,
        wrappers.DtypeObservation,
        wrappers.FilterObservation,
        wrappers.FlattenObservation,
        wrappers.GrayscaleObservation,
        wrappers.RescaleAction,
        wrappers.RescaleObservation,
        wrappers.ReshapeObservation,
        wrappers.ResizeObservation,
    }
)

PASSIVE_CHECKS = ("checked_reset", "checked_step", "checked_render", "checked_data_reuse")


@dataclass(frozen=True)
class Adaptor:
    """Reads and writes the whole state of one environment."""

    state: Callable[[], State]
    restore: Callable[[State], None]


def adaptor_for(env: Env) -> Adaptor | None:
    """How to save and restore `env`, or None where that cannot be done exactly.

    Wrappers are gone through from the outside in. The first object that offers `state()` and `restore(state)` of its
    own speaks for itself and for everything inside it.
    """
    layers: list[Env] = []
    inner = env
    while True:
        layers.append(inner)
        if _offers_state(inner):
            break
        if not isinstance(inner, gymnasium.Wrapper):
            if not _is_known(inner):
                return None
            break
        if type(inner) not in FORGETFUL and not isinstance(_memory_of(inner), dict):
            return None
        inner = inner.env

    def state() -> State:
        return {"layers": [_save(layer) for layer in layers]}

    def restore(saved: State) -> None:
        if len(saved["layers"]) != len(layers):
            raise CheckpointError(
                f"expected the state of {len(layers)} layers of {env}, got {len(saved['layers'])}; "
                "resume with the versions of the packages that the run began with"
            )
        for layer, content in zip(layers, saved["layers"], strict=True):
            _load(layer, content)

    return Adaptor(state, restore)


def _offers_state(env: Env) -> bool:
    """Whether the class has both methods; instance attributes named `state`, as CartPole's, do not count."""
    return all(callable(getattr(type(env), name, None)) for name in ("state", "restore"))


def _is_known(env: Env) -> bool:
    if type(env) not in ATTRIBUTES:
        return False
    if isinstance(env, FrozenLakeEnv) and env.spec is not None:
        # A map drawn at construction comes out of no seed of ours, so a second environment has another one.
        given = {"map_name": "4x4", "desc": None, **env.spec.kwargs}
        return given["map_name"] is not None or given["desc"] is not None
    return True


def _memory_of(wrapper: Env) -> State | None:
    """What a wrapper remembers, or None if we do not know the wrapper."""
    if type(wrapper) is wrappers.TimeLimit:
        return {"elapsed_steps": wrapper._elapsed_steps}
    if type(wrapper) is wrappers.OrderEnforcing:
        return {"has_reset": wrapper.has_reset}
    if type(wrapper) is wrappers.PassiveEnvChecker:
        return {}
    return None


def _save(env: Env) -> State:
    if _offers_state(env):
        state = env.state()  # type: ignore[attr-defined]  # checked just above
        _require_plain(state, str(env))
        return {"type": _name(env), "own": copy.deepcopy(state)}
    if isinstance(env, gymnasium.Wrapper):
        return {"type": _name(env), **(_memory_of(env) or {})}
    values = {name: _plain(getattr(env, name)) for name in ATTRIBUTES[type(env)] if hasattr(env, name)}
    return {"type": _name(env), "values": values, "generator": generator_state(env._np_random)}


def _load(env: Env, content: State) -> None:
    if content["type"] != _name(env):
        raise CheckpointError(f"expected the state of a {_name(env)}, got that of a {content['type']}")
    if "own" in content:
        env.restore(copy.deepcopy(content["own"]))  # type: ignore[attr-defined]  # it was saved by this class's own `state`
    elif type(env) is wrappers.TimeLimit:
        env._elapsed_steps = content["elapsed_steps"]
    elif type(env) is wrappers.OrderEnforcing:
        env._has_reset = content["has_reset"]
    elif type(env) is wrappers.PassiveEnvChecker:
        for name in PASSIVE_CHECKS:  # it compares the first calls with each other, which are past
            setattr(env, name, True)
    elif not isinstance(env, gymnasium.Wrapper):
        for name, value in content["values"].items():
            setattr(env, name, copy.deepcopy(value))  # the environment will change it, the state must stay
        env._np_random = generator_from(content["generator"])


def _name(env: Env) -> str:
    return f"{type(env).__module__}:{type(env).__qualname__}"


def _plain(value: Any) -> Any:
    """NumPy scalars as Python's, tuples of numbers as arrays (which unpack alike), the rest as it is."""
    if isinstance(value, tuple):
        return np.asarray(value)
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, list) else value


def _require_plain(value: Any, where: str) -> None:
    """Raise if a tree has a leaf that a checkpoint cannot hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise WorldError(f"expected string keys in the state of {where}, got {key!r}; use str(key)")
            _require_plain(inner, f"{where}['{key}']")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _require_plain(inner, f"{where}[{index}]")
    elif isinstance(value, np.ndarray) and value.dtype != object:
        return
    elif type(value) not in (bool, int, float, str, type(None)) and type(value).__name__ != "Tensor":
        raise WorldError(
            f"expected dicts, lists, arrays, numbers, strings or None in the state of {where}, got {type(value)}; "
            "convert it in the environment's state()"
        )


def generator_state(generator: np.random.Generator | None) -> State | None:
    """The state of a generator with its 128-bit numbers as strings, which any format can hold."""
    if generator is None:
        return None
    state: Any = generator.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise WorldError(f"expected a generator of the kind PCG64, which Gymnasium uses, got {state['bit_generator']}")
    return {
        "state": str(state["state"]["state"]),
        "inc": str(state["state"]["inc"]),
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }


def generator_from(saved: State | None) -> np.random.Generator | None:
    """The generator that `generator_state` described."""
    if saved is None:
        return None
    bits = np.random.PCG64()
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(saved["state"]), "inc": int(saved["inc"])},
        "has_uint32": saved["has_uint32"],
        "uinteger": saved["uinteger"],
    }
    return np.random.Generator(bits)
