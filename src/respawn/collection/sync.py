"""Collecting in the caller's thread."""

from dataclasses import replace

import torch

from respawn.collection.actor import Actor
from respawn.collection.open_episodes import OpenEpisodes
from respawn.collection.scripted import Scripted
from respawn.collection.unroll import unroll
from respawn.contracts.collector import CollectOrder
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Rollout
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import World
from respawn.memory.rollout_buffer import RolloutBuffer


class SyncCollector:
    """`start` notes the order, `finish` does the work.

    Owns the world, which has already begun its first episodes. With lag 1 the weights in the order are older than the
    learner's by then, just as they are when a thread does the work meanwhile: the numbers are the same.
    """

    def __init__(
        self,
        world: World,
        actor: Actor,
        *,
        horizon_steps: int,
        device: torch.device,
        scripted: Scripted | None = None,
        pulse: Pulse = NO_PULSE,
    ) -> None:
        self._world = world
        self._actor = actor
        self._scripted = scripted
        self._pulse = pulse
        self._horizon_steps = horizon_steps
        self._buffers = [RolloutBuffer(world.spec, horizon_steps, device) for _ in range(2)]
        self._open = OpenEpisodes(world.spec.num_lanes)
        self._order: CollectOrder | None = None
        self._is_dropped = False

    def start(self, order: CollectOrder) -> None:
        """Note what to gather."""
        if self._order is not None:
            raise RuntimeError("start() while a rollout is under way: finish() that one first")
        self._order = order

    def finish(self, into: RolloutBuffer | None = None) -> Rollout:
        """Gather what was ordered, into a buffer of our own or one that is given."""
        if self._order is None:
            raise RuntimeError("finish() without start()")
        order, self._order = self._order, None
        if into is None:
            into = self._buffers[0]
            self._buffers.reverse()
        rollout = unroll(
            self._world,
            self._actor,
            into,
            order,
            self._horizon_steps,
            self._scripted,
            self._pulse,
            lambda: not self._is_dropped,
        )
        return replace(rollout, counts={**rollout.counts, **self._open.note(rollout)})

    def state(self) -> StateTree:
        """The world as it stands, and what the actor remembers of it."""
        if self._order is not None:
            raise RuntimeError("a rollout is under way: state() may be asked for only after finish()")
        return {
            "world": self._world.state(),
            "exact": self._world.spec.exact_resume,
            "actor": self._actor.state(),
            "open": self._open.state(),
            **({} if self._scripted is None else {"scripted": self._scripted.state()}),
        }

    def restore(self, state: StateTree) -> None:
        """Put the world and the actor back."""
        if self._order is not None:
            raise RuntimeError("a rollout is under way: restore() may be called only after finish()")
        self._world.restore(state["world"])
        self._actor.restore(state["actor"])
        if "open" in state:  # checkpoints of older versions lack it
            self._open.restore(state["open"])
        if self._scripted is not None:
            self._scripted.restore(state["scripted"])
        # Checkpoints from before `exact` was saved hold states of the same kind of world.
        if not (state.get("exact", True) and self._world.spec.exact_resume):
            # Its episodes begin anew, so what the actor remembers is of episodes that no longer exist.
            self._actor.forget_all()
            self._open.begin_anew()
            if self._scripted is not None:
                self._scripted.begin_episodes_anew()

    def begin_anew(self, state: StateTree) -> None:
        """Know which scripts were played; all else in the state is of lanes that are no more."""
        if self._order is not None:
            raise RuntimeError("a rollout is under way: begin_anew() may be called only after finish()")
        if self._scripted is not None:
            self._scripted.begin_anew(state["scripted"])

    def drop(self) -> None:
        """Leave what another thread is gathering at its next step: only closing may follow."""
        self._is_dropped = True

    def close(self) -> None:
        """Close the world."""
        self._world.close()
