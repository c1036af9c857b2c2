"""Actors in processes of their own, as their parent sees them: watched, timed out, diagnosed and replaced."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from respawn.collection.actor_service import REFUSALS, Ticket
from respawn.collection.config import CollectionConfig
from respawn.collection.slots import Mailbox, SlotLayout
from respawn.contracts.pulse import NO_PULSE, Pulse
from respawn.contracts.records import Event
from respawn.errors import ConfigError, WorkerError
from respawn.processes.marks import Marks, marks_path

CLOSE_SECONDS = 3.0
DEATH_SECONDS = 1.0
KIND = "actor"
"""what the diagnostic files of actors are called by"""


class ActorProcess(Protocol):
    """A process that serves orders; see `respawn.processes.child`."""

    connection: "Connection[Any, Any]"

    @property
    def pid(self) -> int:
        """Its process id."""
        ...

    def send(self, command: str, argument: Any = None) -> None:
        """Give it something to do; that it is gone shows when its answer is awaited."""
        ...

    def stack(self) -> str:
        """Where its threads are just now."""
        ...

    def printed(self) -> str:
        """The end of what it printed."""
        ...

    def end(self, grace_seconds: float = 0.0) -> str:
        """See to it that it is gone and say how it went."""
        ...


Launch = Callable[[int], ActorProcess]
"""Starts the actor of that number."""


Take = Callable[[Ticket, int, int], bytes]
"""Takes over what a ticket led to, given how long its note and its state are; answers the actor's state."""


class _LostError(Exception):
    """An actor that can no longer be counted on, and why: 'hung', 'died', or what it raised."""

    def __init__(self, cause: str, seconds: float = 0.0, told: str = "") -> None:
        super().__init__(cause)
        self.seconds = seconds
        self.told = told


@dataclass
class _Member:
    process: ActorProcess
    state: bytes = b""
    """as of its last rollout: where whoever replaces it goes on from"""
    tickets: list[Ticket] = field(default_factory=list)
    """under way or waiting for their turn, the oldest first"""
    heard: float = field(default_factory=time.monotonic)
    """when it last began something, as far as we know"""
    losses: int = 0
    """in a row, without a rollout between"""


class ActorCrew:
    """All actors of a run. Whoever is lost is replaced, and carries out the same orders from the same state."""

    def __init__(
        self,
        config: CollectionConfig,
        launch: Launch,
        take: Take,
        mailboxes: Sequence[Mailbox],
        *,
        diagnostics: Path,
        notify: Callable[[Event], None],
        pulse: Pulse = NO_PULSE,
    ) -> None:
        self._config = config
        self._take = take
        self._mailboxes = mailboxes
        self._launch = launch
        self._folder = diagnostics
        self._folder.mkdir(parents=True, exist_ok=True)
        self._notify = notify
        self._pulse = pulse
        self._members: dict[int, _Member] = {}
        self.num_replaced = 0
        layouts = []
        try:
            for number in range(config.actors):  # all start at the same time
                self._members[number] = _Member(launch(number))
            for number in range(config.actors):
                layouts.append(self._bring_up(number, fresh=True))
            if any(layout != layouts[0] for layout in layouts):
                raise ConfigError(f"expected every actor to have the same world and model, got {layouts}")
        except BaseException:
            self.close(0.0)
            raise
        self.layout: SlotLayout = layouts[0]

    @property
    def pids(self) -> list[int]:
        """The process ids of the actors, in order."""
        return [self._members[number].process.pid for number in sorted(self._members)]

    def state(self, number: int) -> bytes:
        """What an actor was like after its last rollout."""
        return self._members[number].state

    def num_tickets(self, number: int) -> int:
        """How many orders an actor has before it."""
        return len(self._members[number].tickets)

    def send(self, ticket: Ticket) -> None:
        """Hand an order to its actor."""
        member = self._members[ticket.actor]
        if not member.tickets:
            member.heard = time.monotonic()
        member.tickets.append(ticket)
        member.process.send("gather", ticket)

    def restore(self, states: Sequence[bytes]) -> None:
        """Put every actor back to where it was; none has an order before it."""
        for number, state in enumerate(states):
            self._members[number].state = state
            self._send_state(number)
        for number in range(len(states)):
            try:
                self._answer(number, "restored", self._config.actor_start_seconds)
            except _LostError as loss:
                self._replace(number, loss)

    def begin_anew(self, states: Sequence[bytes]) -> None:
        """Let every new actor know what one with other lanes or other steps a rollout had done."""
        for number, state in enumerate(states):
            self._members[number].state = self._begun_anew(number, state)

    def _begun_anew(self, number: int, state: bytes) -> bytes:
        """What an actor is like once it knows; until then whoever replaces it goes on from how it was launched."""
        while True:
            try:
                self._mailboxes[number].put(state)
                self._members[number].process.send("begin_anew", len(state))
                num_bytes = self._answer(number, "begun_anew", self._config.actor_start_seconds)
            except _LostError as loss:
                self._replace(number, loss)
                continue
            (begun,) = self._mailboxes[number].get(num_bytes)
            return begun

    def _send_state(self, number: int) -> None:
        member = self._members[number]
        self._mailboxes[number].put(member.state)
        member.process.send("restore", len(member.state))

    def listen(self) -> None:
        """Wait until somebody has something to say, or is lost and replaced."""
        if not any(member.tickets for member in self._members.values()):
            raise RuntimeError("listen() with no order under way: there is nothing to wait for")
        limit = self._config.rollout_seconds
        left = min(member.heard + limit for member in self._members.values() if member.tickets) - time.monotonic()
        wait([member.process.connection for member in self._members.values()], max(left, 0.0))
        for number, member in self._members.items():
            # Asked only now: while one was being replaced, another may have finished long ago.
            if member.process.connection.poll():
                self._hear(number)
            elif member.tickets and time.monotonic() > member.heard + limit:
                self._replace(number, _LostError("hung", limit))

    def hear(self) -> None:
        """Take over what was done by now, without waiting."""
        for number in self._members:
            self._hear(number)

    def _hear(self, number: int) -> None:
        member = self._members[number]
        try:
            while member.process.connection.poll():
                kind, content = self._message(number)
                if kind == "done":
                    ticket, (ticket_number, *sizes) = member.tickets[0], content
                    assert ticket.number == ticket_number  # an actor serves its orders one after the other
                    # At once: if the actor is lost next, its state must not be one of an earlier rollout.
                    member.state = self._take(ticket, *sizes)
                    del member.tickets[0]
                    member.heard, member.losses = time.monotonic(), 0
        except _LostError as loss:
            self._replace(number, loss)

    def _message(self, number: int) -> tuple[str, Any]:
        """The next thing that an actor says; events are passed on, and what is wrong is raised."""
        try:
            kind, content = self._members[number].process.connection.recv()
        except (EOFError, OSError):
            raise _LostError("died") from None
        self._pulse.moved()
        if kind == "event":
            self._notify(content)
        elif kind == "failed":
            raise _LostError(content[0], told=content[1])
        elif kind == "refused":
            raise REFUSALS[content[0]](content[1])
        return kind, content

    def _answer(self, number: int, wanted: str, limit_seconds: float) -> Any:
        """Await one kind of message."""
        deadline = time.monotonic() + limit_seconds
        while self._members[number].process.connection.poll(max(deadline - time.monotonic(), 0.0)):
            kind, content = self._message(number)
            if kind == wanted:
                return content
        raise _LostError("hung", limit_seconds)

    def _bring_up(self, number: int, *, fresh: bool) -> SlotLayout:
        """Await an actor that was launched, let it go on where the one before it was, and hand it its orders."""
        while True:
            try:
                layout, state_bytes = self._answer(number, "ready", self._config.actor_start_seconds)
                member = self._members[number]
                if fresh:
                    (member.state,) = self._mailboxes[number].get(state_bytes)
                else:
                    self._send_state(number)
                    self._answer(number, "restored", self._config.actor_start_seconds)
                break
            except _LostError as loss:
                self._launch_again(number, loss)
        member.heard = time.monotonic()
        for ticket in member.tickets:
            member.process.send("gather", ticket)
        assert isinstance(layout, SlotLayout)
        return layout

    def _replace(self, number: int, loss: _LostError) -> None:
        self._launch_again(number, loss)
        self._bring_up(number, fresh=False)

    def _launch_again(self, number: int, loss: _LostError) -> None:
        """Find out what can be known of a lost actor, write it down, end it, and start another; or give up."""
        member = self._members[number]
        cause, tickets = str(loss), [ticket.number for ticket in member.tickets]
        facts: dict[str, Any] = {"actor_pid": member.process.pid, "tickets": tickets}
        if cause == "hung":
            cause = f"hung for more than {loss.seconds:g} s"
            facts["stack"] = member.process.stack()
            member.process.end()
        elif cause == "died":
            cause = f"died with {member.process.end(DEATH_SECONDS)}"
            facts["printed"] = member.process.printed()
        else:
            facts["traceback"] = loss.told
            member.process.end(DEATH_SECONDS)
        log = marks_path(self._folder, number, KIND)
        Marks(log, number, KIND).write("lost", None, cause=cause, **facts)
        member.losses += 1
        if member.losses > self._config.max_replacements:
            problem = WorkerError(
                f"actor {number} {cause}, {member.losses} times in a row without a rollout between, and "
                f"collection.max-replacements allows {self._config.max_replacements}; see {log}"
            )
            if loss.told:
                problem.add_note(loss.told)
            raise problem
        self.num_replaced += 1
        exact = self.layout.spec.exact_resume if hasattr(self, "layout") else True
        message = f"actor {number} {cause}; another goes on from its last rollout, with the same orders"
        message += "" if exact else ", but its world cannot say where it was, so its episodes begin anew"
        self._notify(Event("actor_replaced", message, "warning", {"actor": number, "cause": cause, "log": str(log)}))
        member.process = self._launch(number)

    def close(self, grace_seconds: float = CLOSE_SECONDS) -> None:
        """Let the actors close their worlds, and end those that take too long."""
        for member in self._members.values():
            member.process.send("close")
        deadline = time.monotonic() + grace_seconds
        while self._members:
            _, member = self._members.popitem()
            member.process.end(max(deadline - time.monotonic(), 0.0))
