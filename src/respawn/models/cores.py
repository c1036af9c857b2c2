"""What stands between encoder and heads and may remember: nothing, a GRU or an LSTM; the transformer has its own file.

All cores share one rule. A row whose `starts` flag is set begins an episode: what was remembered is forgotten before
it. And a memory of zeros is what a core remembers at the start of an episode.
"""

from itertools import pairwise
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from respawn.contracts.records import Memory


class CoreOutput(NamedTuple):
    """What a core makes of T rows."""

    features: Tensor  # [T, B, H]
    cut_features: Tensor  # [K, H]
    memory: Memory  # [B, ...] after row T-1


class Core(nn.Module):
    """Features in, features with a past out."""

    num_features: int

    def initial_memory(self, num_lanes: int, device: torch.device) -> Memory:
        """What is remembered at the start of an episode: zeros."""
        raise NotImplementedError

    def step(self, features: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """One row [B, F] to ([B, H], the memory after it); lanes that begin an episode come with a memory of zeros."""
        raise NotImplementedError

    def forward(
        self, features: Tensor, memory: Memory, starts: Tensor, cuts: Tensor, cut_features: Tensor
    ) -> CoreOutput:
        """T rows at once, as if `step` had been called row by row.

        Args:
          features: [T, B, F].
          memory: [B, ...] before row 0.
          starts: [T, B] bool, the rows that begin an episode.
          cuts: [K, 2] int64 (t, lane) on the CPU, sorted: after row t the lane's episode was cut short.
          cut_features: [K, F] the row that would have come next there; it sees what the lane remembered after row t,
            and leaves no trace in the other rows.
        """
        raise NotImplementedError


class NoCore(Core):
    """Remembers nothing."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.num_features = num_features

    def initial_memory(self, num_lanes: int, device: torch.device) -> Memory:
        """Nothing."""
        return {}

    def step(self, features: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """What came in."""
        return features, memory

    def forward(
        self, features: Tensor, memory: Memory, starts: Tensor, cuts: Tensor, cut_features: Tensor
    ) -> CoreOutput:
        """What came in."""
        return CoreOutput(features, cut_features, memory)


class RecurrentCore(Core):
    """A GRU or an LSTM of one layer, in float32 whatever surrounds it, since rounding adds up over an episode."""

    def __init__(self, kind: Literal["gru", "lstm"], num_inputs: int, num_features: int) -> None:
        super().__init__()
        self.num_features = num_features
        self.layer = nn.GRU(num_inputs, num_features) if kind == "gru" else nn.LSTM(num_inputs, num_features)
        self._names = ("hidden",) if kind == "gru" else ("hidden", "cell")
        input_weight, hidden_weight, *biases = self.layer.all_weights[0]
        nn.init.orthogonal_(input_weight)
        nn.init.orthogonal_(hidden_weight)
        for bias in biases:
            nn.init.zeros_(bias)

    def initial_memory(self, num_lanes: int, device: torch.device) -> Memory:
        """`hidden` [B, H], and for an LSTM also `cell` [B, H]."""
        return {name: torch.zeros(num_lanes, self.num_features, device=device) for name in self._names}

    def step(self, features: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """One row."""
        with torch.autocast(features.device.type, enabled=False):
            state = self._advance(features.float(), tuple(memory[name] for name in self._names))
        return state[0], dict(zip(self._names, state, strict=True))

    # Where the rows are split depends on the data, so there is nothing here to compile that torch has not done already.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(
        self, features: Tensor, memory: Memory, starts: Tensor, cuts: Tensor, cut_features: Tensor
    ) -> CoreOutput:
        """T rows, in as few calls as there are places where some lane begins an episode or is cut."""
        has_start: list[bool] = starts.any(1).tolist()
        cut_rows, cut_lanes = cuts[:, 0], cuts[:, 1]
        edges = {0, len(has_start), *(t for t, start in enumerate(has_start) if start), *(cut_rows + 1).tolist()}
        state = tuple(memory[name] for name in self._names)  # each [B, H]
        outputs: list[Tensor] = []
        cut_states: list[tuple[Tensor, ...]] = []
        with torch.autocast(features.device.type, enabled=False):
            rows = features.float()
            for first, last in pairwise(sorted(edges)):
                if has_start[first]:
                    fresh = starts[first].unsqueeze(1)  # [B, 1]
                    state = tuple(part.masked_fill(fresh, 0.0) for part in state)
                output, state = self._run(rows[first:last], state)
                outputs.append(output)
                lanes = cut_lanes[cut_rows == last - 1]
                if len(lanes) > 0:
                    lanes = lanes.to(rows.device)
                    cut_states.append(tuple(part[lanes] for part in state))
            if cut_states:  # in the order of the cuts, since both are sorted by row
                remembered = tuple(torch.cat(parts) for parts in zip(*cut_states, strict=True))
                cut_output = self._advance(cut_features.float(), remembered)[0]
            else:
                cut_output = rows.new_empty(0, self.num_features)
        return CoreOutput(torch.cat(outputs), cut_output, dict(zip(self._names, state, strict=True)))

    def _advance(self, rows: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """One row [B, F]; the first of the new state is the output."""
        if len(state) == 1:
            return (torch.gru_cell(rows, state[0], *self.layer.all_weights[0]),)
        hidden, cell = torch.lstm_cell(rows, list(state), *self.layer.all_weights[0])
        return hidden, cell

    def _run(self, rows: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Rows [T, B, F] without an episode start among them."""
        if len(state) == 1:
            output, hidden = self.layer(rows, state[0].unsqueeze(0))
            return output, (hidden[0],)
        output, (hidden, cell) = self.layer(rows, (state[0].unsqueeze(0), state[1].unsqueeze(0)))
        return output, (hidden[0], cell[0])
