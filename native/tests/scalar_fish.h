// One fish after the other, every operation rounded on its own: what native/fish must equal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace scalar_fish {

// A float whose operations are made in double and then rounded. For these five that is the float nearest to the exact
// result, whatever the compiler does to floats.
struct Number {
    float value;
    Number(float value) : value(value) {}
    explicit Number(double wide) : value(static_cast<float>(wide)) {}
    double wide() const { return value; }
};
inline Number operator+(Number a, Number b) { return Number(a.wide() + b.wide()); }
inline Number operator-(Number a, Number b) { return Number(a.wide() - b.wide()); }
inline Number operator*(Number a, Number b) { return Number(a.wide() * b.wide()); }
inline Number operator/(Number a, Number b) { return Number(a.wide() / b.wide()); }
inline Number operator-(Number a) { return Number(-a.value); }
inline bool operator>(Number a, Number b) { return a.value > b.value; }
inline bool operator<(Number a, Number b) { return a.value < b.value; }

inline Number length(Number x, Number y) { return Number(std::sqrt((x * x + y * y).wide())); }

struct Motion {
    Number x, y, vx, vy;
};

inline Motion bounced(Motion at, Number restitution) {
    const Number distance = length(at.x, at.y);
    if (!(distance > 10.0f)) return at;
    const Number nx = at.x / distance;
    const Number ny = at.y / distance;
    const Number outwards = at.vx * nx + at.vy * ny;
    const Number wall_x = outwards * nx;
    const Number wall_y = outwards * ny;
    return {Number(10.0f) * nx, Number(10.0f) * ny, -restitution * wall_x + (at.vx - wall_x),
            -restitution * wall_y + (at.vy - wall_y)};
}

inline Motion moved(Motion at, Number vx, Number vy) {
    const Number speed = length(vx, vy);
    if (speed > 2.0f) {
        vx = vx / speed * 2.0f;
        vy = vy / speed * 2.0f;
    }
    return bounced({at.x + Number(0.1f) * vx, at.y + Number(0.1f) * vy, vx, vy}, 0.5f);
}

struct Way {
    Number speed, x, y;
};

inline Way way_of(Motion at) {
    const Number speed = length(at.vx, at.vy);
    if (speed > 0.01f) return {speed, at.vx / speed, at.vy / speed};
    return {speed, 1.0f, 0.0f};
}

inline Motion swum(Motion at, std::int64_t action) {
    const Way way = way_of(at);
    if (action == 0) return moved(at, at.vx + Number(0.1f) * way.x, at.vy + Number(0.1f) * way.y);
    if (action == 1 || action == 2) {
        const double cos = 0.8660254037844387;
        const double sin = action == 1 ? 0.49999999999999994 : -0.49999999999999994;
        // Volatile: nobody may add what has not been rounded.
        const volatile double far_x = cos * way.x.wide();
        const volatile double off_x = sin * way.y.wide();
        const volatile double far_y = sin * way.x.wide();
        const volatile double off_y = cos * way.y.wide();
        return moved(at, Number((far_x - off_x) * way.speed.wide()), Number((far_y + off_y) * way.speed.wide()));
    }
    if (action == 3) return moved(at, at.vx * 0.9f, at.vy * 0.9f);
    return moved(at, at.vx, at.vy);
}

inline Motion swum_freely(Motion at, float turn, float effort) {
    const Way way = way_of(at);
    turn = std::clamp(turn, -1.0f, 1.0f);
    const Number push(std::clamp(effort, -1.0f, 1.0f));
    const double angle = (Number(turn) * Number(3.141592653589793 / 6)).wide();
    const Number cos(std::cos(angle));
    const Number sin(std::sin(angle));
    const Number x = cos * way.x - sin * way.y;
    const Number y = sin * way.x + cos * way.y;
    const Number brake = push < 0.0f ? -push : 0.0f;
    const Number swim = push > 0.0f ? push : 0.0f;
    const Number speed = way.speed * (Number(1.0f) - Number(1.0 - 0.9) * brake) + Number(0.1f) * swim;
    return moved(at, x * speed, y * speed);
}

inline Motion fallen(Motion at) {
    const Number vy = at.vy + Number(0.05f);
    // The predator's way alone is rounded once, not twice.
    const Number x(at.x.wide() + Number(0.1f).wide() * at.vx.wide());
    const Number y(at.y.wide() + Number(0.1f).wide() * vy.wide());
    return bounced({x, y, at.vx, vy}, 0.85f);
}

inline const Number kVision(10.0 / 3);

}  // namespace scalar_fish
