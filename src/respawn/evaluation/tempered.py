"""Policies that draw their actions more daringly than they were trained to, or more surely."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from torch import Generator, Tensor

from respawn.contracts.policy import Decision, Policy
from respawn.contracts.records import Memory
from respawn.errors import ConfigError
from respawn.models.actor_critic import ActorCritic

TEMPERATURE = "temperature "
"""What the names of tempered policies begin with."""


class TemperedPolicy:
    """A policy at another temperature; implements `contracts.policy.Policy`.

    Logits are divided by the temperature, and where actions are numbers their spread is multiplied by it: above 1 it
    tries more, below 1 it comes close to its likeliest actions, at 1 it is the policy that was trained.
    """

    def __init__(self, model: ActorCritic, temperature: float) -> None:
        self._model = model
        self._temperature = temperature

    def initial_memory(self, num_lanes: int) -> Memory:
        """What the policy remembers at the start of an episode."""
        return self._model.initial_memory(num_lanes)

    def act(self, observation: Tensor, memory: Memory, generator: Generator | None) -> Decision:
        """One action a lane, drawn with `generator`; without one the likeliest, which no temperature changes."""
        decision, parameters = self._model.inspect(observation, memory, None)
        family = self._model.distribution
        tempered = family.tempered(parameters, self._temperature)
        actions = decision.actions if generator is None else family.sample(tempered, generator)
        return replace(decision, actions=actions, log_probs=family.log_prob(tempered, actions))


def way_name(temperature: float) -> str:
    """What playing at a temperature is called."""
    return f"{TEMPERATURE}{temperature:g}"


def tempered_policies(model: ActorCritic, temperatures: Sequence[float]) -> dict[str, Policy]:
    """The policy at each temperature, by what that is called."""
    return {way_name(temperature): TemperedPolicy(model, temperature) for temperature in temperatures}


def check_temperatures(temperatures: Sequence[float]) -> None:
    """Refuse what is no temperature, and what would be played twice."""
    for temperature in temperatures:
        if not (isfinite(temperature) and temperature > 0):
            raise ConfigError(
                f"--temperatures must be above 0 and finite, not {temperature:g}: 1 is the policy as it was trained, "
                "and near 0 it takes its likeliest actions, as 'greedy' does"
            )
    names = [way_name(temperature) for temperature in temperatures]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"--temperatures names {name.removeprefix('temperature ')} twice; name each once")
