// The tank and its laws, as in respawn/worlds/fish/constants.py. Internal to fish/.
#pragma once

namespace fish {

constexpr float kTankRadius = 10.0f;
constexpr float kStepSeconds = 0.1f;
constexpr float kVisionRadius = static_cast<float>(10.0 / 3);

constexpr float kMaxSpeed = 2.0f;
constexpr float kThrust = 0.1f;
constexpr float kBrake = 0.9f;
constexpr float kBrakeLoss = static_cast<float>(1.0 - 0.9);
constexpr float kFishRestitution = 0.5f;
constexpr float kLeastSpeed = 0.01f;

constexpr float kTurn = static_cast<float>(3.141592653589793 / 6);
// math.cos and math.sin of pi / 6
constexpr double kTurnCos = 0.8660254037844387;
constexpr double kTurnSin = 0.49999999999999994;

constexpr float kFall = 0.05f;
constexpr float kPredatorRestitution = 0.85f;
constexpr float kCatchDistance = 0.7f;

constexpr int kFirstOfPredator = 5;  // of the senses; those before are of the fish itself

enum Action { kForward, kLeft, kRight, kBrakes };

}  // namespace fish
