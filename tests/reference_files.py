"""Files as the A3C system wrote them that this one replaces: metadata, and the checkpoint that it describes."""

import json
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch


def metadata(step: int = 0, update: int = 2000, envs: int = 8, kind: str = "checkpoint") -> dict[str, Any]:
    """What it wrote beside a checkpoint."""
    return {
        "version": 1,
        "timestamp": "2025-10-02T08:11:09.413027+00:00",
        "world": 1,
        "stage": 1,
        "action_type": "complex",
        "frame_skip": 4,
        "frame_stack": 4,
        "video_dir": None,
        "record_video": False,
        "vector_env": {
            "num_envs": envs,
            "asynchronous": False,
            "stage_schedule": [[1, 1]],
            "random_start_stage": False,
            "base_seed": 42,
        },
        "model": {
            "input_channels": 4,
            "action_space": 12,
            "base_channels": 32,
            "hidden_size": 512,
            "num_res_blocks": 3,
            "recurrent_type": "gru",
            "transformer_layers": 2,
            "transformer_heads": 4,
            "dropout": 0.1,
            "use_noisy_linear": False,
        },
        "replay": {
            "enabled": True,
            "capacity": 200000,
            "alpha": 0.6,
            "beta_start": 0.4,
            "beta_final": 1.0,
            "beta_steps": 1000000,
            "priority_epsilon": 1e-05,
            "sample_interval": 4,
            "use_fp16_scalars": True,
        },
        "save_state": {"global_step": step, "global_update": update, "type": kind, "reason": "normal"},
    }


def payload(update: int = 2000, **config: Any) -> dict[str, Any]:
    """What its checkpoints hold."""
    return {
        "model": OrderedDict({"stem.weight": torch.zeros(4, 4), "stem.bias": torch.zeros(4)}),
        "optimizer": {"state": {}, "param_groups": [{"lr": 0.00025, "params": [0, 1]}]},
        "scheduler": {"last_epoch": update},
        "scaler": {},
        "global_step": 0,
        "global_update": update,
        "config": {"world": 1, "stage": 1, **config},
    }


def write_metadata(path: Path, data: Any, **layout: Any) -> Path:
    """A metadata file, as `json.dump` of that system laid it out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, **{"indent": 2, **layout}), encoding="utf-8")
    return path


def write_payload(path: Path, data: Any) -> Path:
    """A checkpoint."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(data, path)
    return path
