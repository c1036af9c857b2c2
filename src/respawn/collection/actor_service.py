"""What an actor does in its own process: gathers what it is ordered to, into the slot that it is given."""

import contextlib
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

from respawn.collection.parcels import pack, unpack
from respawn.collection.slots import Mailbox, Slot, SlotLayout
from respawn.collection.sync import SyncCollector
from respawn.contracts.collector import CollectOrder
from respawn.contracts.learner import Weights
from respawn.errors import CheckpointError, ConfigError, RespawnError, RomError
from respawn.processes.marks import Marks


@dataclass(frozen=True)
class Ticket:
    """An order on its way to an actor; its weights and its knobs lie in the slot."""

    number: int
    actor: int
    slot: int
    weights_version: int
    knobs_bytes: int


REFUSALS: dict[str, type[RespawnError]] = {kind.__name__: kind for kind in (ConfigError, CheckpointError, RomError)}
"""Errors that trying again does not mend: they cross as they are."""

BuildActor = Callable[[], tuple[SyncCollector, SlotLayout]]


@dataclass(frozen=True)
class SharedFiles:
    """The memory that an actor shares with its parent, as descriptors."""

    slots: tuple[int, ...]
    mailbox: int
    """for its own state: messages are small, so that nobody ever waits in the middle of one"""


def serve(connection: "Connection[Any, Any]", files: SharedFiles, marks: Marks, build: BuildActor) -> None:
    """Serve orders until told to close, or until the parent is gone."""
    marks.write("start")
    try:
        collector, layout = build()
        try:
            marks.write("ready")
            state = pack(collector.state())
            Mailbox(files.mailbox).put(state)
            connection.send(("ready", (layout, len(state))))
            _Actor(connection, files, collector, layout, marks).serve()
        finally:
            collector.close()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone or has given up on us
    except (ConfigError, CheckpointError, RomError) as problem:
        marks.write("refused", message=str(problem))
        kind = next(name for name, known in REFUSALS.items() if isinstance(problem, known))
        _tell(connection, "refused", (kind, str(problem)))
    except BaseException as problem:  # noqa: BLE001  # the edge of the process: recorded, and told to the parent
        told = traceback.format_exc()
        marks.write("error", error=repr(problem), traceback=told)
        _tell(connection, "failed", (f"raised {type(problem).__name__}: {problem}", told))


def _tell(connection: "Connection[Any, Any]", kind: str, content: Any) -> None:
    with contextlib.suppress(OSError):  # a parent that has given up on us does not want to know
        connection.send((kind, content))


class _Actor:
    def __init__(
        self,
        connection: "Connection[Any, Any]",
        files: SharedFiles,
        collector: SyncCollector,
        layout: SlotLayout,
        marks: Marks,
    ) -> None:
        self._connection = connection
        self._files = files
        self._collector = collector
        self._layout = layout
        self._marks = marks
        self._slots: list[Slot] = []
        self._idle_since = perf_counter()
        self._has_gathered = False

    def serve(self) -> None:
        while True:
            command, argument = self._connection.recv()
            if command == "gather":
                self._gather(argument)
            elif command == "restore":
                self._collector.restore(unpack(*Mailbox(self._files.mailbox).get(argument)))
                self._connection.send(("restored", None))
            elif command == "begin_anew":
                self._begin_anew(argument)
            else:
                return

    def _begin_anew(self, num_bytes: int) -> None:
        mailbox = Mailbox(self._files.mailbox)
        self._collector.begin_anew(unpack(*mailbox.get(num_bytes)))
        state = pack(self._collector.state())
        mailbox.put(state)
        self._connection.send(("begun_anew", len(state)))

    def _gather(self, ticket: Ticket) -> None:
        stood_still = perf_counter() - self._idle_since if self._has_gathered else 0.0
        if not self._has_gathered:
            self._marks.write("gather", ticket=ticket.number)
            self._has_gathered = True
        if not self._slots:  # by now the parent has made room
            self._slots = [Slot(descriptor, self._layout) for descriptor in self._files.slots]
        slot = self._slots[ticket.slot]
        knobs = unpack(*slot.mailbox.get(ticket.knobs_bytes))
        self._collector.start(CollectOrder(Weights(ticket.weights_version, slot.weights), knobs))
        rollout = self._collector.finish(slot.buffer)
        began = perf_counter()
        # The state as it is now travels with every rollout: if we are lost, another goes on from it.
        state = pack(self._collector.state())
        slot.mailbox.put(state, after=ticket.knobs_bytes)
        handing_over = perf_counter() - began
        seconds = {**rollout.phase_seconds, "back_pressure": stood_still, "hand_over": handing_over}
        note = pack(slot.put(replace(rollout, phase_seconds=seconds)))
        # Behind the knobs: whoever takes our place may need them again.
        slot.mailbox.put(note, after=ticket.knobs_bytes + len(state))
        self._connection.send(("done", (ticket.number, len(note), len(state))))
        self._idle_since = perf_counter()
