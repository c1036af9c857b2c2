"""Forcing actions: what a script says is done in place of what the policy chose, and said to have been certain."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from respawn.contracts.knobs import SCRIPT_REASONS, Script
from respawn.contracts.policy import Decision
from respawn.contracts.saveable import StateTree


class _Slot:
    """The script of one reason, and how far each lane is in it."""

    def __init__(self, num_lanes: int, device: torch.device) -> None:
        self._device = device
        self.script: Script | None = None  # the last one that was taken
        self.offered = False
        self.left = torch.zeros(num_lanes, dtype=torch.int64, device=device)  # [B] decisions
        self.running = False  # whether any lane may have some left; kept here so that steps need not ask the device
        self._actions = torch.zeros(1, dtype=torch.int64, device=device)

    def take(self, script: Script | None) -> None:
        """Take note of what is offered; what is offered for the first time begins."""
        self.offered = script is not None
        if script is not None and (self.script is None or script.number > self.script.number):
            self._adopt(script)
            self.left.fill_(0 if script.each_episode else script.decisions)
        self.running = bool((self.left > 0).any())

    def begin_where(self, starting: Tensor) -> None:
        """Begin anew in the lanes [B] whose episode begins, if the script is of that kind."""
        script = self.script
        if script is None or not script.each_episode:
            return
        # An episode that begins after the last offer is the policy's own, whatever was left of the one before.
        self.left.masked_fill_(starting, script.decisions if self.offered else 0)
        self.running = self.running or self.offered

    def wanted(self) -> Tensor:
        """[B] what the script does next in each lane."""
        assert self.script is not None, "a slot that runs has a script"
        return self._actions[(self.script.decisions - self.left).remainder(len(self._actions))]

    def _adopt(self, script: Script) -> None:
        self.script = script
        actions = [action for action, decisions in script.parts for _ in range(decisions)]
        self._actions = torch.tensor(actions, dtype=torch.int64, device=self._device)

    def state(self) -> StateTree:
        """The script and how much is left of it."""
        script = self.script
        return {
            "left": self.left.clone(),
            "script": None
            if script is None
            else {
                "number": script.number,
                "parts": [list(part) for part in script.parts],
                "decisions": script.decisions,
                "each_episode": script.each_episode,
            },
        }

    def restore(self, state: StateTree, reason: str) -> None:
        """Go on where it was; whether it is still offered the next order says."""
        self.know(state, reason)
        self.left = state["left"].to(self._device, copy=True)

    def know(self, state: StateTree, reason: str) -> None:
        """Which script was the last one that was taken: it is not taken again."""
        saved = state["script"]
        self.script = None
        if saved is not None:
            parts = tuple((action, decisions) for action, decisions in saved["parts"])
            self._adopt(Script(saved["number"], reason, parts, saved["decisions"], saved["each_episode"]))


class Scripted:
    """What is forced in each lane. Reasons go before each other as in SCRIPT_REASONS; a script that has to wait waits.

    The policy still runs: its memory goes on with what it saw, and the values are its own.
    """

    def __init__(self, num_lanes: int, device: torch.device) -> None:
        """Build it before anything is forced.

        Args:
          num_lanes: of the world.
          device: where decisions are made.
        """
        self._device = device
        self._slots = {reason: _Slot(num_lanes, device) for reason in SCRIPT_REASONS}
        self._starting = torch.ones(num_lanes, dtype=torch.bool, device=device)  # [B] the next decision is the first

    def take(self, scripts: Sequence[Script]) -> None:
        """Take note of what holds for the rollout that begins."""
        offered = {script.reason: script for script in scripts}
        for reason, slot in self._slots.items():
            slot.take(offered.get(reason))

    def force(self, decision: Decision, valid: Tensor) -> Decision:
        """The decision with what scripts say in its place.

        Args:
          decision: the policy's.
          valid: [B] where somebody is there to decide; a script waits for them elsewhere.
        """
        present = valid.to(self._device)
        starting = self._starting & present
        self._starting &= ~present
        for slot in self._slots.values():
            slot.begin_where(starting)
        running = [slot for slot in self._slots.values() if slot.running]
        if not running:
            return decision
        actions, free = decision.actions, present
        for slot in running:
            takes = free & (slot.left > 0)
            actions = torch.where(takes, slot.wanted(), actions)
            slot.left -= takes.long()
            free = free & ~takes
        scripted = present & ~free
        return replace(
            decision,
            actions=actions,
            log_probs=decision.log_probs.masked_fill(scripted, 0.0),
            scripted=scripted,
        )

    def note_ends(self, ended: Tensor) -> None:
        """Take note of the lanes [B] whose episode ended: the next decision there is a first one."""
        self._starting |= ended

    def begin_episodes_anew(self) -> None:
        """All lanes begin new episodes: the ones that were under way are lost."""
        self._starting.fill_(True)

    def state(self) -> StateTree:
        """Every script under way, and which lanes are about to begin."""
        return {
            "starting": self._starting.clone(),
            "slots": {reason: slot.state() for reason, slot in self._slots.items()},
        }

    def restore(self, state: StateTree) -> None:
        """Go on in the middle of whatever was under way."""
        self._starting = state["starting"].to(self._device, copy=True)
        for reason, slot in self._slots.items():
            slot.restore(state["slots"][reason], reason)

    def begin_anew(self, state: StateTree) -> None:
        """Know what was played in lanes that are no more; what was under way there is over."""
        for reason, slot in self._slots.items():
            slot.know(state["slots"][reason], reason)
