import json
from dataclasses import replace

import pytest

from respawn.checkpoints.manifest import SCHEMA_VERSION, Manifest, _fingerprint
from respawn.errors import CheckpointError

MANIFEST = Manifest(
    schema_version=SCHEMA_VERSION,
    respawn_version="0.1.0",
    saved_at="2026-11-16T10:00:00+00:00",
    updates=7,
    decisions=700,
    config_sha256="ab",
    world="CartPole-v1",
    weights_sha256="cd",
    metrics={"evaluation/return_mean": 1e-05},
    files={"weights.json": "ef"},
)


def test_a_manifest_reads_back_the_same():
    assert Manifest.from_json(MANIFEST.to_json()) == MANIFEST


def test_no_flipped_bit_goes_unseen():
    content = bytearray(MANIFEST.to_json().encode())
    seen = 0
    for position in range(len(content)):
        for bit in range(8):
            content[position] ^= 1 << bit
            try:
                # A few flips change nothing that is said, such as 1e-05 to 1E-05.
                assert Manifest.from_json(content.decode()) == MANIFEST
            except (CheckpointError, UnicodeDecodeError):
                seen += 1
            content[position] ^= 1 << bit
    assert seen > 0.99 * 8 * len(content)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"text"', "{}"])
def test_what_is_no_manifest_is_a_checkpoint_error(text):
    with pytest.raises(CheckpointError, match=r"manifest\.json cannot be read"):
        Manifest.from_json(text)


def test_a_change_by_hand_is_noticed():
    content = json.loads(MANIFEST.to_json())
    content["updates"] = 8
    with pytest.raises(CheckpointError, match="does not match its own fingerprint"):
        Manifest.from_json(json.dumps(content))


def test_another_schema_is_refused_and_says_which_program_can_read_it():
    newer = json.loads(replace(MANIFEST, schema_version=SCHEMA_VERSION + 1, respawn_version="9.9").to_json())
    del newer["manifest_sha256"]
    newer["a field of the future"] = 1
    text = json.dumps({**newer, "manifest_sha256": _fingerprint(newer)})
    with pytest.raises(CheckpointError, match=f"schema {SCHEMA_VERSION + 1}.*use respawn 9.9"):
        Manifest.from_json(text)
