// Looking around for as many fish at once as a vector has lanes. The file of each SIMD path first says what a vector
// is, in `Lanes`, and FISH_INLINE and FISH_TARGET for functions; then it includes this. What a lane computes depends
// neither on the other lanes nor on how many there are, so that all paths give the same bytes. Internal to fish/.
#pragma once

#include "fish/shoal.h"

namespace fish {
namespace {

using Vector = Lanes::Vector;
using Mask = Lanes::Mask;
using Count = Lanes::Count;

constexpr int kLanes = Lanes::kWidth;
static_assert(kMostLanes % kLanes == 0);

// Guesses of a distance that separates the nearest from the others; three are usual. What is left is tied, or
// crowded in a strange way.
constexpr int kGuesses = 14;

// The fish of one vector.
struct Block {
    int first;
    Vector x, y;
    float radius_squared;
    // Filled in by find().
    int near = 0;
    Count neighbours;
    Vector nearest_square;
    Vector some_speed;  // of any one neighbour
};

// Adds those in `range` that are near any fish of the block.
template <bool kMayBeSelf>
FISH_INLINE void find(Shoal& shoal, Range range, Block& block) {
    const float* const all_x = shoal.x();
    const float* const all_y = shoal.y();
    const float* const speed = shoal.speed();
    int* const near = shoal.near();
    float* const squares = shoal.squares();
    const Vector limit = Lanes::all(block.radius_squared);
    for (int j = range.first; j < range.last; ++j) {
        const Vector x = Lanes::sub(Lanes::all(all_x[j]), block.x);
        const Vector y = Lanes::sub(Lanes::all(all_y[j]), block.y);
        const Vector square = Lanes::add(Lanes::mul(x, x), Lanes::mul(y, y));
        Mask is_near = Lanes::at_most(square, limit);
        if constexpr (kMayBeSelf) is_near = Lanes::without(is_near, j - block.first);
        block.neighbours = Lanes::count_where(is_near, block.neighbours);
        block.nearest_square = Lanes::where(is_near, Lanes::min(square, block.nearest_square), block.nearest_square);
        block.some_speed = Lanes::where(is_near, Lanes::all(speed[j]), block.some_speed);
        // Written in any case, and kept if anybody is near: no branch to guess wrong.
        near[block.near] = j;
        Lanes::store(squares + block.near * kLanes, Lanes::where(is_near, square, Lanes::nan()));
        block.near += Lanes::any(is_near);
    }
}

// Squares of distances that let just `wanted` neighbours in, all of them for those that have no more; and who has found
// none.
struct Limits {
    Vector squares;
    Mask open;
};

FISH_INLINE Limits limits_of(Shoal& shoal, const Block& block, int average_count) {
    const float* const squares = shoal.squares();
    const Vector wanted = Lanes::all(static_cast<float>(average_count));
    const Vector have = Lanes::number(block.neighbours);
    Limits limits{Lanes::all(block.radius_squared), Lanes::less(wanted, have)};
    if (!Lanes::any(limits.open)) return limits;
    // At `low` there are too few, at `high` too many.
    Vector low = Lanes::all(0);
    Vector low_count = Lanes::all(0);
    Vector high = limits.squares;
    Vector high_count = have;
    const Vector half = Lanes::all(0.5f);
    const Vector aim = Lanes::add(wanted, half);
    for (int guess = 0; guess < kGuesses; ++guess) {
        // Fish spread evenly over a disc have evenly spread squares; now and then a half, in case these have not.
        const Vector part =
            guess % 3 == 2 ? half : Lanes::div(Lanes::sub(aim, low_count), Lanes::sub(high_count, low_count));
        const Vector middle = Lanes::add(low, Lanes::mul(Lanes::sub(high, low), part));
        Count inside = Lanes::none();
        for (int i = 0; i < block.near; ++i) {
            inside = Lanes::count_where(Lanes::at_most(Lanes::load(squares + i * kLanes), middle), inside);
        }
        const Vector count = Lanes::number(inside);
        const Mask few = Lanes::less(count, wanted);
        const Mask many = Lanes::less(wanted, count);
        limits.squares = Lanes::where(limits.open, middle, limits.squares);
        limits.open = Lanes::both(limits.open, Lanes::either(few, many));
        if (!Lanes::any(limits.open)) break;
        low = Lanes::where(few, middle, low);
        low_count = Lanes::where(few, count, low_count);
        high = Lanes::where(many, middle, high);
        high_count = Lanes::where(many, count, high_count);
    }
    return limits;
}

struct Sums {
    Vector x, y;  // of the offsets of the nearest
    Vector away;
    // Of the differences from some_speed, which are 0 when all are equally fast: so is the deviation then.
    Vector speed, speed_squared;
};

FISH_INLINE Sums sums_of(Shoal& shoal, const Block& block, Vector limit) {
    const float* const all_x = shoal.x();
    const float* const all_y = shoal.y();
    const float* const velocity_x = shoal.velocity_x();
    const float* const velocity_y = shoal.velocity_y();
    const float* const speeds = shoal.speed();
    const int* const near = shoal.near();
    const float* const squares = shoal.squares();
    const Vector zero = Lanes::all(0);
    const Vector everybody = Lanes::all(block.radius_squared);
    Sums sums{zero, zero, zero, zero, zero};
    for (int i = 0; i < block.near; ++i) {
        const int j = near[i];
        const Vector x = Lanes::sub(Lanes::all(all_x[j]), block.x);
        const Vector y = Lanes::sub(Lanes::all(all_y[j]), block.y);
        const Vector square = Lanes::load(squares + i * kLanes);
        const Mask is_near = Lanes::at_most(square, everybody);
        const Mask counts = Lanes::at_most(square, limit);
        sums.x = Lanes::add_where(counts, sums.x, x);
        sums.y = Lanes::add_where(counts, sums.y, y);
        const Vector faster = Lanes::sub(Lanes::all(speeds[j]), block.some_speed);
        sums.speed = Lanes::add_where(is_near, sums.speed, faster);
        sums.speed_squared = Lanes::add_where(is_near, sums.speed_squared, Lanes::mul(faster, faster));
        const Vector outwards =
            Lanes::add(Lanes::mul(Lanes::all(velocity_x[j]), x), Lanes::mul(Lanes::all(velocity_y[j]), y));
        // From fish in the same place there is no way out; nor is NaN more than 0.
        const Mask apart = Lanes::less(zero, square);
        sums.away = Lanes::add_where(apart, sums.away, Lanes::div(outwards, Lanes::sqrt(square)));
    }
    return sums;
}

FISH_INLINE void write(Shoal& shoal, const Block& block, const Sums& sums, const Question& question, int lanes,
                       float* out) {
    const Vector zero = Lanes::all(0);
    const Vector one = Lanes::all(1);
    const Vector have = Lanes::number(block.neighbours);
    const Mask any = Lanes::less(zero, have);
    const Vector radius = Lanes::all(question.radius);
    const Vector count = Lanes::max(have, one);
    const Vector averaged = Lanes::min(count, Lanes::all(static_cast<float>(question.average_count)));
    const Vector average_radii = Lanes::mul(averaged, radius);
    const Vector faster = Lanes::div(sums.speed, count);
    const Vector spread = Lanes::sub(sums.speed_squared, Lanes::mul(sums.speed, faster));
    const Vector facts[kFacts] = {have,
                                  Lanes::div(sums.x, average_radii),
                                  Lanes::div(sums.y, average_radii),
                                  Lanes::div(Lanes::sqrt(block.nearest_square), radius),
                                  Lanes::add(block.some_speed, faster),
                                  Lanes::sqrt(Lanes::div(Lanes::max(spread, zero), count)),
                                  Lanes::div(sums.away, count)};
    alignas(64) float rows[kFacts][kLanes];
    for (int fact = 0; fact < kFacts; ++fact) Lanes::store(rows[fact], Lanes::where(any, facts[fact], zero));
    const int* const places = shoal.places() + block.first;
    for (int lane = 0; lane < lanes; ++lane) {
        float* const row = out + static_cast<std::ptrdiff_t>(places[lane]) * kFacts;
        for (int fact = 0; fact < kFacts; ++fact) row[fact] = rows[fact][lane];
    }
}

FISH_INLINE void settle_ties(Shoal& shoal, const Block& block, Mask open, int average_count, Sums& sums) {
    alignas(64) float x[kLanes];
    alignas(64) float y[kLanes];
    Lanes::store(x, sums.x);
    Lanes::store(y, sums.y);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!Lanes::has(open, lane)) continue;
        const Shoal::Offset sum = shoal.nearest(block.first + lane, lane, kLanes, block.near, average_count);
        x[lane] = sum.x;
        y[lane] = sum.y;
    }
    sums.x = Lanes::load(x);
    sums.y = Lanes::load(y);
}

FISH_TARGET void look(Shoal& shoal, const Question& question, float* out) {
    const int count = shoal.count();
    for (int i = 0; i < count; i += kLanes) {
        const Vector x = Lanes::load(shoal.velocity_x() + i);
        const Vector y = Lanes::load(shoal.velocity_y() + i);
        Lanes::store(shoal.speed() + i, Lanes::sqrt(Lanes::add(Lanes::mul(x, x), Lanes::mul(y, y))));
    }
    const Vector zero = Lanes::all(0);
    const float radius_squared = question.radius * question.radius;
    for (int first = 0; first < count; first += kLanes) {
        const int lanes = count - first < kLanes ? count - first : kLanes;
        const int last = first + lanes;
        Block block{first,
                    Lanes::load(shoal.x() + first),
                    Lanes::load(shoal.y() + first),
                    radius_squared,
                    0,
                    Lanes::none(),
                    Lanes::all(radius_squared),
                    zero};
        const auto [ranges, found] = shoal.around({first, last});
        for (int i = 0; i < found; ++i) {
            const Range range = ranges[i];
            find<false>(shoal, {range.first, range.last < first ? range.last : first}, block);
            find<true>(shoal, {range.first > first ? range.first : first, range.last < last ? range.last : last},
                       block);
            find<false>(shoal, {range.first > last ? range.first : last, range.last}, block);
        }
        const Limits limits = limits_of(shoal, block, question.average_count);
        Sums sums = sums_of(shoal, block, limits.squares);
        if (Lanes::any(limits.open)) settle_ties(shoal, block, limits.open, question.average_count, sums);
        write(shoal, block, sums, question, lanes, out);
    }
}

}  // namespace
}  // namespace fish
