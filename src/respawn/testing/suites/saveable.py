"""What every part that remembers must pass."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch

from respawn.contracts.saveable import Saveable, StateTree

Part = TypeVar("Part", bound=Saveable)


def check_saveable(make: Callable[[], Part], advance: Callable[[Part], None], digest: Callable[[Part], Any]) -> None:
    """Check that a part can be saved and taken up again, in the same instance and in a new one.

    Args:
      make: A new part, the same every time.
      advance: Moves a part on, in a way that follows from its state alone.
      digest: What matters of a part, as something that can be compared with ==.
    """
    part, control = make(), make()
    advance(part)
    advance(control)
    state = part.state()
    check_plain(state)
    before = freeze(state)
    assert freeze(part.state()) == before, "asking for the state twice gave two answers"
    at_save = digest(part)
    advance(part)
    advance(control)
    straight = digest(part)
    assert digest(control) == straight, "asking for the state changed what happened afterwards"
    assert freeze(state) == before, "the state changed after it was given away; return clones"
    for name, restored in (("the same instance", part), ("a new instance", make())):
        restored.restore(state)
        assert digest(restored) == at_save, f"{name} was not where it had been when it was restored"
        assert freeze(restored.state()) == before, f"{name} told another state after it was restored"
        advance(restored)
        assert digest(restored) == straight, f"{name} went another way after it was restored"
        assert freeze(state) == before, f"{name} changed the state that it was restored from; copy what it takes"


def check_plain(tree: Any, where: str = "state") -> None:
    """Check that a state holds nothing but what a checkpoint can hold."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            assert isinstance(key, str), f"{where} has the key {key!r}; keys must be strings"
            check_plain(value, f"{where}[{key!r}]")
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            check_plain(value, f"{where}[{index}]")
    else:
        plain = (torch.Tensor, np.ndarray, type(None), bool, int, float, str)
        is_plain = isinstance(tree, plain) and not isinstance(tree, np.generic)
        assert is_plain, f"{where} is a {type(tree)}; leaves must be tensors, arrays, None, bool, int, float or str"


def freeze(tree: StateTree | Any) -> Any:
    """A tree as something that can be compared with ==, to the last bit, and that nobody can change."""
    if isinstance(tree, dict):
        return tuple((key, freeze(tree[key])) for key in sorted(tree))
    if isinstance(tree, list | tuple):
        return tuple(freeze(value) for value in tree)
    if isinstance(tree, torch.Tensor):
        tree = tree.detach().cpu().contiguous()
        tree = (tree.view(torch.int16) if tree.dtype == torch.bfloat16 else tree).numpy()  # NumPy has no bfloat16
    if isinstance(tree, np.ndarray):
        return (tree.shape, str(tree.dtype), tree.tobytes())
    return (type(tree).__name__, tree)
