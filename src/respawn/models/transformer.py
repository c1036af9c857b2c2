"""A core that looks back: causal attention over the last rows of the same episode.

Keys and values of the last `window` rows of each layer are the memory (as in Transformer-XL, Dai et al. 2019,
https://arxiv.org/abs/1901.02860), so that acting row by row and learning over many rows see exactly the same past.
Attention is written out, not fused: the fused kernels' gradients are not repeatable on every device.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from respawn.contracts.records import Memory
from respawn.models.cores import Core, CoreOutput


class _Sight(NamedTuple):
    """Which rows see which, the same in every layer. Positions are the window's rows, then the T new ones."""

    distances: Tensor  # [T, W+T] int64, clipped to 0..W
    hidden: Tensor  # [B, 1, T, W+T] bool: not to be looked at
    cut_lanes: Tensor  # [K]
    cut_positions: Tensor  # [K, W] the rows before each cut, oldest first
    cut_hidden: Tensor  # [K, 1, 1, W+1] bool; the last is the cut row itself


class Block(nn.Module):
    """Pre-norm attention with a learned bias for each distance, then a small MLP."""

    def __init__(self, size: int, num_heads: int, window: int) -> None:
        super().__init__()
        self._num_heads = num_heads
        self.attention_norm = nn.LayerNorm(size)
        self.queries_keys_values = nn.Linear(size, 3 * size)
        self.mix = nn.Linear(size, size)
        self.distance_bias = nn.Parameter(torch.zeros(num_heads, window + 1))
        self.mlp_norm = nn.LayerNorm(size)
        self.widen = nn.Linear(size, 4 * size)
        self.narrow = nn.Linear(4 * size, size)

    def project(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values [..., H] of rows [..., H]."""
        queries, keys, values = self.queries_keys_values(self.attention_norm(rows)).chunk(3, -1)
        return queries, keys, values

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor, hidden: Tensor) -> Tensor:
        """What each of Q queries finds among S places.

        Args:
          queries: [N, Q, H].
          keys: [N, S, H].
          values: [N, S, H].
          bias: [heads, Q, S].
          hidden: [N, 1, Q, S] bool; never all of a query's places, so that the softmax always has something to hold.

        Returns:
          [N, Q, H].
        """
        q, k, v = self._by_head(queries), self._by_head(keys), self._by_head(values)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # [N, heads, Q, S]
        weights = (scores + bias).masked_fill(hidden, -math.inf).softmax(-1)
        return (weights.to(v.dtype) @ v).transpose(1, 2).flatten(-2)

    def _by_head(self, rows: Tensor) -> Tensor:
        """[N, S, H] to [N, heads, S, H / heads]."""
        return rows.reshape(*rows.shape[:2], self._num_heads, -1).transpose(1, 2)

    def finish(self, rows: Tensor, found: Tensor) -> Tensor:
        """Add what was found to the rows, and think about it."""
        rows = rows + self.mix(found)
        thought: Tensor = self.narrow(functional.gelu(self.widen(self.mlp_norm(rows))))
        return rows + thought


class TransformerCore(Core):
    """Blocks of attention over the row itself and at most `window` rows before it in the same episode."""

    def __init__(self, num_inputs: int, num_features: int, num_layers: int, num_heads: int, window: int) -> None:
        super().__init__()
        self.num_features = num_features
        self._window = window
        self.input = nn.Linear(num_inputs, num_features)
        self.blocks = nn.ModuleList(Block(num_features, num_heads, window) for _ in range(num_layers))
        self.output_norm = nn.LayerNorm(num_features)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def initial_memory(self, num_lanes: int, device: torch.device) -> Memory:
        """`keys` and `values` [B, layers, W, H], oldest row first, and `filled` [B, W]: which of them are rows."""
        shape = (num_lanes, len(self.blocks), self._window, self.num_features)
        return {
            "keys": torch.zeros(shape, device=device),
            "values": torch.zeros(shape, device=device),
            "filled": torch.zeros(num_lanes, self._window, dtype=torch.bool, device=device),
        }

    def step(self, features: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """One row."""
        starts = features.new_zeros(1, features.shape[0], dtype=torch.bool)
        no_cuts = torch.empty(0, 2, dtype=torch.int64)
        output = self.forward(features.unsqueeze(0), memory, starts, no_cuts, features[:0])
        return output.features[0], output.memory

    def forward(
        self, features: Tensor, memory: Memory, starts: Tensor, cuts: Tensor, cut_features: Tensor
    ) -> CoreOutput:
        """T rows and K cut rows, layer by layer, all rows of a layer at once."""
        num_rows, window, has_cuts = features.shape[0], self._window, cuts.shape[0] > 0
        episodes, sight = self._look(starts, memory["filled"], cuts.to(features.device))
        rows: Tensor = self.input(features).transpose(0, 1)  # [B, T, H]
        cut_rows: Tensor = self.input(cut_features).unsqueeze(1)  # [K, 1, H]
        kept_keys: list[Tensor] = []
        kept_values: list[Tensor] = []
        for index, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            queries, new_keys, new_values = block.project(rows)
            keys = torch.cat([memory["keys"][:, index].to(new_keys.dtype), new_keys], 1)  # [B, W+T, H]
            values = torch.cat([memory["values"][:, index].to(new_values.dtype), new_values], 1)
            kept_keys.append(keys[:, num_rows:])
            kept_values.append(values[:, num_rows:])
            bias = block.distance_bias[:, sight.distances]  # [heads, T, W+T]
            rows = block.finish(rows, block.attend(queries, keys, values, bias, sight.hidden))
            if has_cuts:
                cut_rows = self._cut_block(block, cut_rows, keys, values, sight)
        filled = torch.cat([memory["filled"], torch.ones_like(starts.T)], 1)  # [B, W+T]
        last_episode = episodes == episodes[:, -1:]
        left: Memory = {
            "keys": torch.stack(kept_keys, 1).float(),
            "values": torch.stack(kept_values, 1).float(),
            "filled": (filled & last_episode)[:, num_rows : num_rows + window],
        }
        return CoreOutput(self.output_norm(rows).transpose(0, 1), self.output_norm(cut_rows).squeeze(1), left)

    def _cut_block(self, block: Block, cut_rows: Tensor, keys: Tensor, values: Tensor, sight: _Sight) -> Tensor:
        """One layer for the cut rows: each looks at the window before it in its lane, and at itself."""
        queries, own_keys, own_values = block.project(cut_rows)  # [K, 1, H]
        place = (sight.cut_lanes.unsqueeze(1), sight.cut_positions)
        seen_keys = torch.cat([keys[place], own_keys], 1)  # [K, W+1, H]
        seen_values = torch.cat([values[place], own_values], 1)
        bias = block.distance_bias.flip(-1).unsqueeze(1)  # [heads, 1, W+1], farthest first
        return block.finish(cut_rows, block.attend(queries, seen_keys, seen_values, bias, sight.cut_hidden))

    def _look(self, starts: Tensor, filled: Tensor, cuts: Tensor) -> tuple[Tensor, _Sight]:
        """The episode [B, W+T] that each position belongs to (0: the one under way before row 0), and who sees whom."""
        num_rows, num_lanes = starts.shape
        window = self._window
        new_episodes = starts.T.cumsum(1)  # [B, T]
        episodes = torch.cat([new_episodes.new_zeros(num_lanes, window), new_episodes], 1)  # [B, W+T]
        exists = torch.cat([filled, filled.new_ones(num_lanes, num_rows)], 1)  # [B, W+T]
        positions = torch.arange(window + num_rows, device=starts.device)
        distances = positions[window:, None] - positions  # [T, W+T]
        reachable = (distances >= 0) & (distances <= window)
        same = new_episodes.unsqueeze(2) == episodes.unsqueeze(1)  # [B, T, W+T]
        cut_times, cut_lanes = cuts.unbind(1)
        # Row t stands at position W+t, so the W rows before the one that would have followed begin at t+1.
        cut_positions = cut_times.unsqueeze(1) + 1 + positions[:window]  # [K, W]
        place = (cut_lanes.unsqueeze(1), cut_positions)
        cut_seen = exists[place] & (episodes[place] == new_episodes[cut_lanes, cut_times].unsqueeze(1))  # [K, W]
        cut_hidden = functional.pad(~cut_seen, (0, 1), value=False)
        return episodes, _Sight(
            distances=distances.clamp(0, window),
            hidden=~(same & reachable & exists.unsqueeze(1)).unsqueeze(1),
            cut_lanes=cut_lanes,
            cut_positions=cut_positions,
            cut_hidden=cut_hidden[:, None, None, :],
        )
