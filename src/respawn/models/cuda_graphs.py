"""Replaying a network's kernels as one: for small batches a GPU waits for the CPU to name each of them.

The first pass of each shape is recorded, forwards and, where gradients are wanted, backwards; later ones are replayed.
What is computed stays the same. Two things follow from memory being fixed when recording: a result must be used up
before the next pass of its shape, and gradients must not be added up over several passes.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

MOST_ROWS = 4_096
"""Beyond it the kernels themselves take longer than naming them does, and recording would only cost memory."""
MOST_SHAPES = 4
"""Shapes of each kind that are recorded; batches whose size is never the same twice would only fill the memory."""
_WARM_UPS = 3


class GraphedPasses:
    """A network's pass from one tensor to another, recorded once a shape."""

    def __init__(self, make_pass: Callable[[], nn.Module]) -> None:
        """`make_pass` gives a module of its own, with the same parameters, each time it is asked."""
        self._make_pass = make_pass
        self._plain = make_pass()
        self._with_gradient: dict[torch.Size, nn.Module] = {}
        self._without: dict[torch.Size, _Recorded] = {}

    def __call__(self, inputs: Tensor) -> Tensor:
        """The pass over inputs [N, ...]."""
        known: dict[torch.Size, Any] = self._with_gradient if torch.is_grad_enabled() else self._without
        has_room = inputs.shape in known or len(known) < MOST_SHAPES
        if not inputs.is_cuda or not 0 < len(inputs) <= MOST_ROWS or not has_room:
            result: Tensor = self._plain(inputs)
            return result
        if torch.is_grad_enabled():
            return self._trained(inputs)
        if inputs.shape not in self._without:
            self._without[inputs.shape] = _Recorded(self._plain, inputs)
        return self._without[inputs.shape](inputs)

    def _trained(self, inputs: Tensor) -> Tensor:
        if inputs.shape not in self._with_gradient:
            # Recording changes the module that it is given, so each shape needs one of its own.
            recorded = self._make_pass()
            _expect_other_streams()
            with _no_cached_casts():
                torch.cuda.make_graphed_callables(recorded, (inputs.clone(),), num_warmup_iters=_WARM_UPS)
            self._with_gradient[inputs.shape] = recorded
        result: Tensor = self._with_gradient[inputs.shape](inputs)
        return result


class _Recorded:
    """One shape's pass without gradient."""

    def __init__(self, plain: nn.Module, inputs: Tensor) -> None:
        self._inputs = inputs.clone()
        beside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside), _no_cached_casts():
            for _ in range(_WARM_UPS):
                plain(self._inputs)
        torch.cuda.current_stream().wait_stream(beside)
        self._graph = torch.cuda.CUDAGraph()
        with _no_cached_casts(), torch.cuda.graph(self._graph):
            self._result: Tensor = plain(self._inputs)

    def __call__(self, inputs: Tensor) -> Tensor:
        self._inputs.copy_(inputs)
        self._graph.replay()
        return self._result


def _expect_other_streams() -> None:
    """Torch records on a stream of its own and later adds up gradients on ours; its newer versions warn of that."""
    set_warning = getattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch", None)
    if set_warning is not None:
        set_warning(False)


def _no_cached_casts() -> torch.autocast:
    """The precision that holds now, without remembering casts: a recording must hold its own."""
    return torch.autocast(
        "cuda",
        dtype=torch.get_autocast_dtype("cuda"),
        enabled=torch.is_autocast_enabled("cuda"),
        cache_enabled=False,
    )
