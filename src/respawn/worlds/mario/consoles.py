"""How the world's consoles are set up."""

from respawn.processes.limits import usable_cores
from respawn.worlds.mario import ram
from respawn.worlds.mario.config import MarioConfig
from respawn.worlds.mario.engine import PoolConfig


def pool_config(config: MarioConfig, num_lanes: int, *, draws: bool) -> PoolConfig:
    """One console a lane, as the settings have it; without pictures where nobody sees them."""
    return PoolConfig(
        lanes=num_lanes,
        threads=min(config.engine_threads or usable_cores(), num_lanes),
        skip=config.frame_skip,
        kind="grey" if draws else "none",
        height=config.picture_size,
        width=config.picture_size,
        stack=1,
        max_of_two=config.max_of_two and draws,
        watch=ram.WATCHED,
    )
