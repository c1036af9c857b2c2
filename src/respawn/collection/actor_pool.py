"""Collecting in several processes at once, each with a world of its own, while the learner learns."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import torch

from respawn.collection.actor_crew import ActorCrew, ActorProcess
from respawn.collection.actor_service import SharedFiles, Ticket
from respawn.collection.config import CollectionConfig
from respawn.collection.flow import Flow
from respawn.collection.parcels import pack, unpack
from respawn.collection.slots import Mailbox, SlotFiles
from respawn.contracts.collector import CollectOrder
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Event, Rollout
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import WorldSpec
from respawn.memory.rollouts import rollout_from_state, rollout_state, rollout_to

CPU = torch.device("cpu")

LaunchActor = Callable[[int, SharedFiles], ActorProcess]
"""Starts the actor of a number, which shares that memory with us."""


@dataclass
class _Awaited:
    """A rollout that was ordered: under way until it is there, then waiting for its turn."""

    number: int
    actor: int
    weights_version: int
    slot: int | None
    """None: it comes from a checkpoint, and has memory of its own"""
    rollout: Rollout | None = None


class ActorPool:
    """`start` hands out orders, `finish` gives the next rollout; a set number is always under way or waiting.

    The first `start` hands out as many orders as may be in flight, each further one hands out one. In fixed order
    rollout k is gathered by actor k mod N and learned from as the k-th; which weights gather it follows from k alone,
    so a run is as repeatable as one in a single process. In free order the next is whichever is ready, as long as
    none that waits becomes too old by it.
    """

    def __init__(
        self,
        config: CollectionConfig,
        launch: LaunchActor,
        *,
        diagnostics: Path,
        notify: Callable[[Event], None],
        device: torch.device,
        pulse: Pulse = NO_PULSE,
    ) -> None:
        """Start the actors, and wait until all are ready.

        Args:
          config: How many, and how far ahead.
          launch: Starts one.
          diagnostics: A folder for the files that help when something goes wrong.
          notify: Is told what happens once.
          device: Where rollouts are wanted; actors themselves compute on the CPU.
          pulse: Is told whenever an actor is heard of.
        """
        self._config = config
        self._device = device
        # One more than are in flight: the rollout that was handed out last belongs to the caller.
        self._files = SlotFiles(config.rollouts_in_flight + 1, config.actors)
        try:
            self._crew = ActorCrew(
                config,
                lambda number: launch(number, SharedFiles(tuple(self._files.slots), self._files.mailboxes[number])),
                self._take,
                [Mailbox(descriptor) for descriptor in self._files.mailboxes],
                diagnostics=diagnostics,
                notify=notify,
                pulse=pulse,
            )
            try:
                self._slots = self._files.open(self._crew.layout)
            except BaseException:
                self._crew.close()
                raise
        except BaseException:
            self._files.close()
            raise
        self._free = deque(range(len(self._slots)))
        self._handed_out: int | None = None
        self._awaited: deque[_Awaited] = deque()  # in the order in which they were ordered
        self._num_ordered = 0
        self._num_finished = 0
        self._started = False
        self._flow = Flow(notify)

    @property
    def spec(self) -> WorldSpec:
        """What the world of each actor is like."""
        return self._crew.layout.spec

    @property
    def pids(self) -> list[int]:
        """The process ids of the actors, in order."""
        return self._crew.pids

    def start(self, order: CollectOrder) -> None:
        """Hand out orders until as many rollouts are in flight as may be: the first time several, then one."""
        if self._started:
            raise RuntimeError("start() while a rollout is under way: finish() that one first")
        self._started = True
        self._crew.hear()
        if self._num_ordered == 0:
            # The first of all, or the first since all began anew: whatever was handed out before then is no more, so
            # these weights learn from the next. How old any are is known only if both are counted from the same.
            self._num_ordered = self._num_finished = order.weights.version
        while len(self._awaited) < self._config.rollouts_in_flight:
            self._hand_out(order)

    def finish(self) -> Rollout:
        """The next rollout, once it is there."""
        if not self._started:
            raise RuntimeError("finish() without start()")
        self._started = False
        self._crew.hear()
        began = perf_counter()
        while (chosen := self._next()) is None:
            self._crew.listen()
        assert chosen.rollout is not None
        self._awaited.remove(chosen)
        waiting = sum(awaited.rollout is not None for awaited in self._awaited)
        flow = {
            **self._flow.note(chosen.rollout, perf_counter() - began, self._num_finished - chosen.weights_version),
            "rollouts_waiting": float(waiting),
            "rollouts_under_way": float(len(self._awaited) - waiting),
            "actors_replaced": float(self._crew.num_replaced),
        }
        self._num_finished += 1
        rollout = replace(rollout_to(chosen.rollout, self._device), flow=flow)
        if self._handed_out is not None:
            self._free.append(self._handed_out)
        self._handed_out = chosen.slot
        return rollout

    def state(self) -> StateTree:
        """Each actor as it was after its last rollout, and all rollouts not handed out; waits for those under way."""
        if self._started:
            raise RuntimeError("a rollout is under way: state() may be asked for only after finish()")
        self._wait_for_all()
        return {
            "actors": [unpack(self._crew.state(number)) for number in range(self._config.actors)],
            "waiting": [
                {
                    "number": awaited.number,
                    "actor": awaited.actor,
                    "rollout": rollout_state(awaited.rollout),
                }
                for awaited in self._awaited
                if awaited.rollout is not None
            ],
            "num_ordered": self._num_ordered,
            "num_finished": self._num_finished,
        }

    def restore(self, state: StateTree) -> None:
        """Put every actor back, and the rollouts that wait."""
        if self._started:
            raise RuntimeError("a rollout is under way: restore() may be called only after finish()")
        self._wait_for_all()
        self._crew.restore([pack(actor) for actor in state["actors"]])
        self._awaited = deque(
            _Awaited(
                number=waiting["number"],
                actor=waiting["actor"],
                weights_version=waiting["rollout"]["weights_version"],
                slot=None,
                rollout=rollout_from_state(waiting["rollout"], CPU),
            )
            for waiting in state["waiting"]
        )
        self._num_ordered = state["num_ordered"]
        self._num_finished = state["num_finished"]
        self._free = deque(range(len(self._slots)))
        self._handed_out = None

    def begin_anew(self, state: StateTree) -> None:
        """Go on from actors of another size; what those had under way is ordered again, as new episodes."""
        if self._started:
            raise RuntimeError("a rollout is under way: begin_anew() may be called only after finish()")
        self._crew.begin_anew([pack(actor) for actor in state["actors"]])

    def close(self) -> None:
        """End the actors; what is under way is dropped, for nobody will ask for it."""
        self._crew.close()
        self._files.close()
        # The memory goes with whoever still looks at the rollout that was handed out last.
        self._awaited.clear()
        self._slots = []

    def _hand_out(self, order: CollectOrder) -> None:
        slot = self._free.popleft()
        self._slots[slot].put_weights(order.weights.tensors)
        number, actor = self._num_ordered, self._turn()
        self._num_ordered += 1
        # No start may be taken twice, and worlds do not know of each other: they are dealt by their numbers.
        dealt = tuple(start for start in order.knobs.starts if start.number % self._config.actors == actor)
        knobs = replace(order.knobs, starts=dealt)
        parcel = pack(knobs)
        self._slots[slot].mailbox.put(parcel)
        self._awaited.append(_Awaited(number, actor, order.weights.version, slot))
        self._crew.send(Ticket(number, actor, slot, order.weights.version, len(parcel)))

    def _turn(self) -> int:
        """Whose turn it is."""
        if self._config.order == "fixed":
            return self._num_ordered % self._config.actors
        return min(range(self._config.actors), key=self._crew.num_tickets)

    def _take(self, ticket: Ticket, note_bytes: int, state_bytes: int) -> bytes:
        """A rollout is there: remember it, and answer what its actor was like after it."""
        slot = self._slots[ticket.slot]
        state, note = slot.mailbox.get(state_bytes, note_bytes, after=ticket.knobs_bytes)
        awaited = next(awaited for awaited in self._awaited if awaited.number == ticket.number)
        awaited.rollout = slot.rollout(unpack(note))
        return state

    def _next(self) -> _Awaited | None:
        """What may be handed out now."""
        ready = [awaited for awaited in self._awaited if awaited.rollout is not None]
        if self._config.order == "fixed":
            ready = [awaited for awaited in ready if awaited is self._awaited[0]]
        return next((awaited for awaited in ready if self._may_overtake(awaited)), None)

    def _may_overtake(self, chosen: _Awaited) -> bool:
        """Whether the others can still be learned from in time, one after the other, if this one comes first.

        The rollout handed out as the k-th is learned from by weights of version k.
        """
        others = (awaited for awaited in self._awaited if awaited is not chosen)
        return all(
            self._num_finished + 1 + place - other.weights_version <= self._config.greatest_lag
            for place, other in enumerate(others)
        )

    def _wait_for_all(self) -> None:
        while any(awaited.rollout is None for awaited in self._awaited):
            self._crew.listen()
