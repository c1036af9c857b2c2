"""Environments that misbehave in one way each; importing this module registers them."""

import ctypes
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Walker(gymnasium.Env):
    """Counts its steps; behaves, unless a subclass does not. Ends after `length` steps."""

    observation_space = spaces.Box(-1e6, 1e6, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, length: int = 5, trouble_at: int = 3, flag: str = "", render_mode: str | None = None) -> None:
        self.length = length
        self.trouble_at = trouble_at
        self.flag = flag
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.count = 0
        self.start = float(self.np_random.integers(1000))
        return self.look(), {}

    def step(self, action: int) -> Any:
        self.count += 1
        if self.count == self.trouble_at and self.is_first_time():
            self.trouble()
        return self.look(), float(action), self.count >= self.length, False, {}

    def look(self) -> Any:
        return np.array([self.start, self.count], np.float32)

    def is_first_time(self) -> bool:
        """Whether there was no trouble before; always, without a flag file."""
        if not self.flag:
            return True
        try:
            Path(self.flag).touch(exist_ok=False)  # one process only can be the first, whichever it is
        except FileExistsError:
            return False
        return True

    def trouble(self) -> None:
        pass


class HangsInConstructor(Walker):
    def __init__(self, flag: str = "") -> None:
        super().__init__(flag=flag)
        if self.is_first_time():
            self.sleep_in_constructor()

    def sleep_in_constructor(self) -> None:
        time.sleep(600)


class HangsInStep(Walker):
    def trouble(self) -> None:
        self.spin_for_ever()

    def spin_for_ever(self) -> None:
        while True:  # pure Python, never gives the processor back by itself
            pass


class HangsInNativeCode(Walker):
    """Starts a process of its own, then sleeps in C with the interpreter's lock held: no Python thread can run."""

    def trouble(self) -> None:
        Path(self.flag + ".child").write_text(str(subprocess.Popen(["sleep", "600"]).pid))
        Path(self.flag + ".stuck").touch()
        ctypes.PyDLL(None).sleep(600)


class ExitsInReset(Walker):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None and self.is_first_time():
            os._exit(3)
        return super().reset(seed=seed, options=options)


class RaisesInClose(Walker):
    def close(self) -> None:
        with Path(self.flag).open("a") as file:
            file.write("closed\n")
        raise OSError("the display is gone")


class HangsInClose(Walker):
    def close(self) -> None:
        time.sleep(600)


class ExitsInClose(Walker):
    def close(self) -> None:
        os._exit(5)


class HangsInReset(Walker):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is None and self.is_first_time():
            time.sleep(600)
        return super().reset(seed=seed, options=options)


class Exits(Walker):
    def trouble(self) -> None:
        os._exit(3)


class ExitsInConstructor(Walker):
    def __init__(self) -> None:
        super().__init__()
        os._exit(4)


class Raises(Walker):
    def trouble(self) -> None:
        raise ValueError("the pole broke")


class WrongShape(Walker):
    def look(self) -> Any:
        if self.count == self.trouble_at:
            return np.zeros(3, np.float64)
        return super().look()


class WrongDtype(Walker):
    def look(self) -> Any:
        if self.count == self.trouble_at:
            return np.array(["a", "b"])
        return super().look()


class TellsItsState(Walker):
    def state(self) -> dict[str, Any]:
        bits: Any = self.np_random.bit_generator.state
        return {
            "count": self.count,
            "start": self.start,
            "bits": [str(bits["state"]["state"]), str(bits["state"]["inc"]), bits["has_uint32"], bits["uinteger"]],
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.count, self.start = state["count"], state["start"]
        value, inc, has_uint32, uinteger = state["bits"]
        generator = np.random.Generator(np.random.PCG64())
        generator.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": int(value), "inc": int(inc)},
            "has_uint32": has_uint32,
            "uinteger": uinteger,
        }
        self._np_random = generator


class TellsAnObject(TellsItsState):
    def state(self) -> dict[str, Any]:
        return {"count": object()}


class Draws(Walker):
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def render(self) -> Any:
        return np.full((8, 9, 3), self.count, np.uint8)


class SpeaksText(Walker):
    observation_space = spaces.Sequence(spaces.Discrete(3))


class ActsInDicts(Walker):
    action_space = spaces.Dict({"left": spaces.Discrete(2)})


class ImportsTorch(Walker):
    def __init__(self) -> None:
        super().__init__()
        import torch

        self.torch = torch

    def look(self) -> Any:
        return np.array([self.torch.get_num_threads(), int(os.environ["OMP_NUM_THREADS"])], np.float32)


for kind in (
    Walker,
    HangsInConstructor,
    HangsInStep,
    HangsInNativeCode,
    HangsInReset,
    ExitsInReset,
    RaisesInClose,
    HangsInClose,
    ExitsInClose,
    Exits,
    ExitsInConstructor,
    Raises,
    WrongShape,
    WrongDtype,
    TellsItsState,
    TellsAnObject,
    Draws,
    SpeaksText,
    ActsInDicts,
    ImportsTorch,
):
    if f"bad/{kind.__name__}-v0" not in gymnasium.registry:
        gymnasium.register(f"bad/{kind.__name__}-v0", entry_point=kind)
