// What each fish of many schools can tell about its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fish {

constexpr int kFacts = 7;           // of each fish, see neighbours()
constexpr int kMostFish = 1 << 20;  // of a school: counts stay exact as float
constexpr int kMostSchools = 1 << 24;
constexpr int kMostThreads = 256;
// Squares of distances within these stay normal floats.
constexpr float kLeastRadius = 1e-15f;
constexpr float kMostRadius = 1e15f;

// Arrays of the caller, without gaps: the schools one after the other, and in each its fish.
struct Schools {
    int count;
    int fish;  // of each school
    const float *x, *y, *velocity_x, *velocity_y;
    int stride;                 // numbers from one fish to the next: 1 in planes, 2 where x and y lie side by side
    const std::uint8_t* alive;  // 0: neither has nor is a neighbour
};

struct Question {
    float radius;
    int average_count;  // how many of the nearest the average position is made of
};

// Neighbours are the living fish of the same school whose squared distance, in float, is at most the radius squared.
// Writes kFacts for each fish, all zero for the dead and the lonely:
//   0     how many neighbours
//   1, 2  where the `average_count` nearest are on average, seen from the fish, in radii (of equals, the first)
//   3     the distance to the nearest, in radii
//   4, 5  mean and standard deviation of the speeds of all, halved
//   6     how fast all swim away from the fish on average, halved
// The same bytes for any number of threads, on any SIMD path and whatever the other schools do. Threads may call it at
// the same time; with more than one thread each they take turns. Throws std::invalid_argument with one sentence.
void neighbours(const Schools& schools, const Question& question, float* out, int threads);

}  // namespace fish
