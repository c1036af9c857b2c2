// What tank.h promises, without a branch, so that the compiler can take as many fish at once as a vector has lanes. The
// file of each SIMD path says FISH_INLINE and FISH_TARGET and then includes this. Internal to fish/.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fish/laws.h"
#include "fish/neighbours.h"
#include "fish/water.h"

namespace fish {
namespace {

// `which ? a : b`, of which compilers make a branch where they see that it saves them a quotient; then they take one
// fish at a time.
FISH_INLINE float pick(bool which, float a, float b) {
    const std::uint32_t mask = which ? ~0u : 0u;
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(a) & mask) | (std::bit_cast<std::uint32_t>(b) & ~mask));
}

FISH_INLINE float length(float x, float y) { return std::sqrt(x * x + y * y); }

struct Motion {
    float x, y, vx, vy;
};

FISH_INLINE Motion bounced(Motion at, float restitution) {
    const float distance = length(at.x, at.y);
    const bool outside = distance > kTankRadius;
    const float nx = at.x / distance;
    const float ny = at.y / distance;
    const float outwards = at.vx * nx + at.vy * ny;
    const float wall_x = outwards * nx;
    const float wall_y = outwards * ny;
    const float back_x = -restitution * wall_x + (at.vx - wall_x);
    const float back_y = -restitution * wall_y + (at.vy - wall_y);
    return {pick(outside, kTankRadius * nx, at.x), pick(outside, kTankRadius * ny, at.y), pick(outside, back_x, at.vx),
            pick(outside, back_y, at.vy)};
}

// What hardly moves faces +x.
struct Heading {
    float speed, x, y;
};

FISH_INLINE Heading heading_of(float vx, float vy) {
    const float speed = length(vx, vy);
    const bool moves = speed > kLeastSpeed;
    return {speed, pick(moves, vx / speed, 1.0f), pick(moves, vy / speed, 0.0f)};
}

struct Velocity {
    float x, y;
};

FISH_INLINE Velocity steered(float vx, float vy, std::int32_t action) {
    const Heading heading = heading_of(vx, vy);
    const double side = action == kRight ? -kTurnSin : kTurnSin;
    const double wide = heading.x;
    const double high = heading.y;
    const double fast = heading.speed;
    const auto turned_x = static_cast<float>((kTurnCos * wide - side * high) * fast);
    const auto turned_y = static_cast<float>((side * wide + kTurnCos * high) * fast);
    const float thrust = pick(action == kForward, kThrust, 0.0f);
    const bool brakes = action == kBrakes;
    const bool turns = (action == kLeft) | (action == kRight);
    const float x = pick(brakes, vx * kBrake, vx + thrust * heading.x);
    const float y = pick(brakes, vy * kBrake, vy + thrust * heading.y);
    return {pick(turns, turned_x, x), pick(turns, turned_y, y)};
}

// Of angles of at most a discrete turn, to the last bit of a float but for one in millions; the same everywhere, which
// the system's functions do not promise.
FISH_INLINE float cosine(double angle) {
    const double s = angle * angle;
    return static_cast<float>(
        1 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320 + s * (-1.0 / 3628800))))));
}
FISH_INLINE float sine(double angle) {
    const double s = angle * angle;
    return static_cast<float>(
        angle *
        (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800)))))));
}

FISH_INLINE float limited(float share) { return pick(share < -1.0f, -1.0f, pick(share > 1.0f, 1.0f, share)); }

FISH_INLINE Velocity steered_freely(float vx, float vy, float turn, float effort) {
    const Heading heading = heading_of(vx, vy);
    const float angle = limited(turn) * kTurn;
    const float push = limited(effort);
    const float cos = cosine(angle);
    const float sin = sine(angle);
    const float x = cos * heading.x - sin * heading.y;
    const float y = sin * heading.x + cos * heading.y;
    const float brake = pick(push > 0.0f, 0.0f, -push);
    const float swim = pick(push < 0.0f, 0.0f, push);
    const float speed = heading.speed * (1.0f - kBrakeLoss * brake) + kThrust * swim;
    return {x * speed, y * speed};
}

FISH_INLINE Motion swum(float x, float y, Velocity velocity) {
    const float speed = length(velocity.x, velocity.y);
    const bool fast = speed > kMaxSpeed;
    const float vx = pick(fast, velocity.x / speed * kMaxSpeed, velocity.x);
    const float vy = pick(fast, velocity.y / speed * kMaxSpeed, velocity.y);
    return bounced({x + kStepSeconds * vx, y + kStepSeconds * vy, vx, vy}, kFishRestitution);
}

// `orders` are int64 actions, or pairs of a turn and an effort.
template <class Order>
FISH_INLINE void swim(float* __restrict xs, float* __restrict ys, float* __restrict vxs, float* __restrict vys,
                      const std::uint8_t* __restrict alive, const Order* __restrict orders, int fish) {
    for (int i = 0; i < fish; ++i) {
        const Motion before{xs[i], ys[i], vxs[i], vys[i]};
        Velocity velocity;
        if constexpr (std::is_integral_v<Order>) {
            velocity = steered(before.vx, before.vy, static_cast<std::int32_t>(orders[i]));
        } else {
            velocity = steered_freely(before.vx, before.vy, orders[2 * i], orders[2 * i + 1]);
        }
        const Motion after = swum(before.x, before.y, velocity);
        const bool lives = alive[i] != 0;
        xs[i] = pick(lives, after.x, before.x);
        ys[i] = pick(lives, after.y, before.y);
        vxs[i] = pick(lives, after.vx, before.vx);
        vys[i] = pick(lives, after.vy, before.vy);
    }
}

// place + velocity * time, rounded once: as the machine did that the recorded episodes were made on. A product of two
// floats is exact in a double.
FISH_INLINE float carried(float place, float velocity) {
    return static_cast<float>(static_cast<double>(place) +
                              static_cast<double>(kStepSeconds) * static_cast<double>(velocity));
}

FISH_INLINE Motion fallen(Motion at) {
    const float vy = at.vy + kFall;
    return bounced({carried(at.x, at.vx), carried(at.y, vy), at.vx, vy}, kPredatorRestitution);
}

FISH_INLINE void measure(const float* __restrict xs, const float* __restrict ys, float x, float y, int fish,
                         float* __restrict distances) {
    for (int i = 0; i < fish; ++i) distances[i] = length(xs[i] - x, ys[i] - y);
}

FISH_INLINE void catch_near(const float* __restrict distances, int fish, std::uint8_t* __restrict alive,
                            std::uint8_t* __restrict caught) {
    for (int i = 0; i < fish; ++i) {
        const auto near = static_cast<std::uint8_t>(distances[i] < kCatchDistance);
        const auto lived = static_cast<std::uint8_t>(alive[i] != 0);
        caught[i] = near & lived;
        alive[i] = static_cast<std::uint8_t>(near ^ 1) & lived;
    }
}

FISH_TARGET void step_schools(const Stretch& schools, const Orders& orders) {
    const int all = schools.count * schools.fish;
    if (orders.actions) {
        swim(schools.x, schools.y, schools.vx, schools.vy, schools.alive, orders.actions, all);
    } else {
        swim(schools.x, schools.y, schools.vx, schools.vy, schools.alive, orders.turns_efforts, all);
    }
    for (int school = 0; school < schools.count; ++school) {
        const Motion predator = fallen({schools.predator_x[school], schools.predator_y[school],
                                        schools.predator_vx[school], schools.predator_vy[school]});
        schools.predator_x[school] = predator.x;
        schools.predator_y[school] = predator.y;
        schools.predator_vx[school] = predator.vx;
        schools.predator_vy[school] = predator.vy;
        const int first = school * schools.fish;
        measure(schools.x + first, schools.y + first, predator.x, predator.y, schools.fish, schools.distance + first);
    }
    catch_near(schools.distance, all, schools.alive, schools.caught);
}

struct Place {
    int school, fish, count;  // `count` from `fish` on
};

// The fish at `place`, one column after the other.
constexpr int kBlock = 32;
using Columns = float[kOwnSenses][kBlock];

FISH_INLINE void sense_block(const Stretch& schools, Place place, Columns& columns) {
    const int first = place.school * schools.fish + place.fish;
    const float* __restrict const xs = schools.x + first;
    const float* __restrict const ys = schools.y + first;
    const float* __restrict const vxs = schools.vx + first;
    const float* __restrict const vys = schools.vy + first;
    const float* __restrict const distances = schools.distance + first;
    const std::uint8_t* __restrict const alive = schools.alive + first;
    const float predator_x = schools.predator_x[place.school];
    const float predator_y = schools.predator_y[place.school];
    const float predator_vx = schools.predator_vx[place.school] / kMaxSpeed;
    const float predator_vy = schools.predator_vy[place.school] / kMaxSpeed;
    for (int i = 0; i < place.count; ++i) {
        const bool lives = alive[i] != 0;
        const bool sees = lives & (distances[i] < kVisionRadius);
        const float numbers[kOwnSenses] = {xs[i] / kTankRadius,
                                           ys[i] / kTankRadius,
                                           vxs[i] / kMaxSpeed,
                                           vys[i] / kMaxSpeed,
                                           (kTankRadius - length(xs[i], ys[i])) / kTankRadius,
                                           1.0f,
                                           (predator_x - xs[i]) / kVisionRadius,
                                           (predator_y - ys[i]) / kVisionRadius,
                                           predator_vx,
                                           predator_vy,
                                           distances[i] / kVisionRadius};
        for (int n = 0; n < kOwnSenses; ++n)
            columns[n][i] = pick(n < kFirstOfPredator ? lives : sees, numbers[n], 0.0f);
    }
}

FISH_TARGET void sense_schools(const Stretch& schools, const Senses& senses) {
    alignas(64) Columns columns;
    for (int school = 0; school < schools.count; ++school) {
        for (int fish = 0; fish < schools.fish; fish += kBlock) {
            const int count = schools.fish - fish < kBlock ? schools.fish - fish : kBlock;
            sense_block(schools, {school, fish, count}, columns);
            for (int i = 0; i < count; ++i) {
                const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(school) * schools.fish + fish + i;
                float* const row = senses.out + place * senses.values;
                for (int n = 0; n < kOwnSenses; ++n) row[n] = columns[n][i];
                if (!senses.facts) continue;
                const float* const facts = senses.facts + place * kFacts;
                const float share = facts[0] / senses.full;
                row[kOwnSenses] = share > 1.0f ? 1.0f : share;
                for (int n = 1; n < kFacts; ++n) row[kOwnSenses + n] = facts[n];
            }
        }
    }
}

template <bool kSmooth, bool kCrowds>
FISH_INLINE void pay(const Stretch& schools, const Prices& all_prices, const float* facts, float* out) {
    const Prices prices = all_prices;
    const float* __restrict const xs = schools.x;
    const float* __restrict const ys = schools.y;
    const float* __restrict const distances = schools.distance;
    const std::uint8_t* __restrict const alive = schools.alive;
    const std::uint8_t* __restrict const caught = schools.caught;
    float* __restrict const paid = out;
    const int all = schools.count * schools.fish;
    for (int i = 0; i < all; ++i) {
        float sight;
        if constexpr (kSmooth) {
            const float share = distances[i] / prices.reach;
            sight = prices.out_of_sight * pick(share > 1.0f, 1.0f, share);
        } else {
            const float seen = prices.sight * distances[i] / kVisionRadius;
            sight = pick(distances[i] < kVisionRadius, seen, prices.out_of_sight);
        }
        const float margin = kTankRadius - length(xs[i], ys[i]);
        const float touch = prices.wall * (1.0f - margin);
        float earned = prices.alive + sight - pick(margin < 1.0f, touch, 0.0f);
        if constexpr (kCrowds) {
            const float count = facts[kFacts * i];
            const float crowd = count / prices.crowd_count - prices.crowd_target;
            const float full = pick(crowd < 0.0f, 0.0f, crowd);
            const float more = prices.divergence * facts[kFacts * i + kFacts - 1] - prices.crowd * full;
            earned = earned + pick(count > 0.0f, more, 0.0f);
        }
        const float scaled = prices.scale * earned;
        paid[i] = pick(alive[i] != 0, scaled, 0.0f) - pick(caught[i] != 0, prices.death, 0.0f);
    }
}

FISH_TARGET void pay_schools(const Stretch& schools, const Prices& prices, const float* facts, float* out) {
    if (prices.smooth) {
        facts ? pay<true, true>(schools, prices, facts, out) : pay<true, false>(schools, prices, facts, out);
    } else {
        facts ? pay<false, true>(schools, prices, facts, out) : pay<false, false>(schools, prices, facts, out);
    }
}

constexpr SwimPath kPath{step_schools, sense_schools, pay_schools};

}  // namespace
}  // namespace fish
