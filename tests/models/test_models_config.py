from typing import Any

import pytest

from respawn.errors import ConfigError
from respawn.models.config import ModelConfig


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"hidden_sizes": (64, 0)}, "model.hidden-sizes"),
        ({"channels": (16, -1)}, "channels"),
        ({"channels": ()}, "channels"),
        ({"feature_size": 0}, "model.feature-size"),
        ({"core_size": 0}, "model.core-size"),
        ({"transformer_layers": 0}, "model.transformer-layers"),
        ({"transformer_heads": 0}, "model.transformer-heads"),
        ({"transformer_window": 0}, "model.transformer-window"),
        ({"core": "transformer", "core_size": 10, "transformer_heads": 4}, "multiple"),
    ],
)
def test_what_cannot_be_built_is_refused(fields: dict[str, Any], word: str):
    with pytest.raises(ConfigError, match=word):
        ModelConfig(**fields)


def test_heads_need_not_divide_the_size_of_another_core():
    assert ModelConfig(core="gru", core_size=10, transformer_heads=4).core_size == 10
