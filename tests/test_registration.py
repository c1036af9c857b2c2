import subprocess
import sys

import pytest

NAME = "respawn/Mario-v0"
KNOWN = f"assert {{{NAME!r}, 'respawn/Fish-v0'}} <= set(gymnasium.registry)"
KNOWN += " and 'torch' not in sys.modules and 'respawn.envs' not in sys.modules"


@pytest.mark.parametrize(
    "lines",
    [
        ["import gymnasium, respawn", KNOWN],
        ["import respawn", "assert 'gymnasium' not in sys.modules", "import gymnasium", KNOWN],
        ["import respawn, importlib; importlib.reload(respawn)", "import gymnasium", KNOWN],
        ["import respawn, importlib.util; importlib.util.find_spec('gymnasium')", "import gymnasium", KNOWN],
        ["import gymnasium", f"spec = gymnasium.envs.registration._find_spec('respawn:{NAME}')", KNOWN],
        ["import respawn, gymnasium", "from gymnasium.wrappers import TimeLimit", "gymnasium.make('CartPole-v1')"],
    ],
)
def test_names_are_known_in_any_order_and_nothing_else_is_loaded(lines):
    script = "\n".join(["import sys, warnings", "warnings.simplefilter('error')", *lines])
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
