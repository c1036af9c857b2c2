// The living fish of one school, laid out for looking at many at once. Internal to fish/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fish/neighbours.h"
#include "pool/memory.h"

namespace fish {

constexpr int kMostLanes = 16;  // fish that a SIMD path looks around for at once

// Fish from `first` to before `last`.
struct Range {
    int first, last;
};

// Everything of a school that fits no register; each thread has one and uses it for school after school.
class Shoal {
  public:
    // For schools of up to `fish`.
    explicit Shoal(int fish);

    // Takes the living fish of a school. In a large one those that are near each other in the water are then near each
    // other in memory.
    void take(const Schools& schools, int school, float radius);

    int count() const { return count_; }
    // Of the living, in their order here. Up to a multiple of kMostLanes they are followed by fish at NaN, which are
    // nobody's neighbours.
    const float* x() const { return x_; }
    const float* y() const { return y_; }
    // Halved, which is exact.
    float* velocity_x() { return velocity_x_; }
    float* velocity_y() { return velocity_y_; }
    float* speed() { return speed_; }              // the path fills it in
    const int* places() const { return places_; }  // in the school

    // In ascending order, everything that can be a neighbour of a fish in `fish`, and other fish too. Valid until the
    // next call.
    std::pair<const Range*, int> around(Range fish);

    // Scratch of the path: those that are near any of the fish it looks around for, and their squared distances from
    // each of these, NaN where they are no neighbours.
    int* near() { return near_; }
    float* squares() { return squares_; }  // kMostLanes for each

    // The sum of the offsets of the `wanted` nearest, when the path found no distance that separates them from the
    // others. `near` are the entries made above, of `lanes` distances each, and `lane` is the one of the fish.
    struct Offset {
        float x, y;
    };
    Offset nearest(int fish, int lane, int lanes, int near, int wanted);

  private:
    void sort(float radius);
    int row_of(float y) const;
    int column_of(float x) const;

    int count_ = 0;
    pool::Memory memory_;
    float *x_, *y_, *velocity_x_, *velocity_y_, *speed_, *squares_;
    float* taken_[4];  // x, y and velocities in the order of the school
    int *places_, *near_, *taken_places_, *cells_;

    // One row of one column: not sorted.
    int rows_ = 1;
    int columns_ = 1;
    float left_ = 0, top_ = 0;
    float columns_a_unit_ = 0, rows_a_unit_ = 0;
    float reach_ = 0;
    std::vector<int> starts_;  // of the cells, row by row, and the end
    std::vector<Range> ranges_;
    std::vector<std::pair<float, int>> by_distance_;
};

// Writes the facts of all living fish; `out` is the school's.
using Look = void (*)(Shoal& shoal, const Question& question, float* out);
void look_plain(Shoal& shoal, const Question& question, float* out);
void look_avx2(Shoal& shoal, const Question& question, float* out);
void look_avx512(Shoal& shoal, const Question& question, float* out);

}  // namespace fish
