"""The tank and its laws: numbers that no option changes. Lengths in tank units, times in seconds."""

import math

TANK_RADIUS = 10.0
STEP_SECONDS = 0.1

FISH_MAX_SPEED = 2.0
FISH_THRUST = 0.1
"""speed that one step of swimming forward adds"""
FISH_TURN = math.pi / 6
FISH_BRAKE = 0.9
FISH_WALL_RESTITUTION = 0.5
LEAST_SPEED = 0.01
"""a slower fish has no heading of its own: it is taken to face +x"""
SPAWN_RADIUS = 0.8 * TANK_RADIUS
SPAWN_MAX_SPEED = 0.5 * FISH_MAX_SPEED
VISION_RADIUS = TANK_RADIUS / 3

PREDATOR_SPEED = 1.5
PREDATOR_FALL = 0.05
"""what gravity adds to the predator's vy in a step; +y is down for it, and up in pictures"""
PREDATOR_WALL_RESTITUTION = 0.85
CATCH_DISTANCE = 0.7
"""a living fish that is nearer than this is caught"""

FORWARD, LEFT, RIGHT, BRAKE, COAST = range(5)
ACTIONS = ("forward", "left", "right", "brake", "coast")
