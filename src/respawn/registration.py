"""The names that `gymnasium.make` knows our environments by. Knowing them loads neither torch nor the engine."""

import contextlib
import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

FISH = "respawn/Fish-v0"
MARIO = "respawn/Mario-v0"


def register() -> None:
    """Tell Gymnasium the names, once."""
    gymnasium = importlib.import_module("gymnasium")
    for name, room, single, many in (
        (FISH, "respawn.envs.fish", "FishEnv", "FishVectorEnv"),
        (MARIO, "respawn.envs.mario", "MarioEnv", "MarioVectorEnv"),
    ):
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=f"{room}:{single}", vector_entry_point=f"{room}:{many}")


def register_with_gymnasium() -> None:
    """Tell Gymnasium the names now if it is loaded, else as soon as it is.

    Gymnasium 1 asks installed packages for nothing, so `import respawn` is what registers. It must not load Gymnasium
    for those who only type a command: that takes longer than all else that `respawn --help` does.
    """
    if "gymnasium" in sys.modules:
        register()
    elif not any(isinstance(finder, _WaitsForGymnasium) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WaitsForGymnasium())


class _WaitsForGymnasium:
    """Finds Gymnasium where it is always found, and has our names registered at the end of its import."""

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        if name != "gymnasium":
            return None
        # It stays until then: whoever only asks whether Gymnasium is there imports nothing.
        spec = PathFinder.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader = spec.loader
            run = loader.exec_module

            def run_and_register(module: ModuleType) -> None:
                with contextlib.suppress(ValueError):
                    sys.meta_path.remove(self)
                run(module)
                register()

            loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
