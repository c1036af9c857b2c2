#include "fish/shoal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fish {

namespace {

constexpr int kSortedFrom = 64;  // with fewer, sorting costs more than looking at everybody
// Of a cell, in radii. Those that a path looks around for at once follow each other in a row: narrow columns keep them
// close together, lower rows would only spread them along the row.
constexpr float kRowHeight = 1.0f;
constexpr float kColumnWidth = 0.25f;
constexpr int kMostRows = 64;
constexpr int kMostColumns = 64;
constexpr int kMostCellsAFish = 4;
constexpr float kMostWater = 1e30f;  // across; in more of it, differences overflow
// A neighbour's coordinate differs by no more than this many radii, whatever rounding did to the square.
constexpr float kReach = 1.00001f;

// Never falls when `along` grows, and takes what lies outside for the first or the last cell.
int cell_of(float along, int cells) {
    const auto last = static_cast<float>(cells - 1);
    return along < last ? static_cast<int>(std::max(along, 0.0f)) : cells - 1;
}

}  // namespace

Shoal::Shoal(int fish) : starts_(kMostRows * kMostColumns + 1), ranges_(kMostRows) {
    const auto padded = static_cast<std::size_t>((fish + kMostLanes - 1) / kMostLanes * kMostLanes);
    const std::size_t array = pool::whole_cache_lines(padded * sizeof(float));
    constexpr std::size_t kArrays = 13;
    memory_ = pool::Memory((kArrays + kMostLanes) * array);
    std::size_t used = 0;
    const auto next = [&] { return memory_.at(array * used++); };
    for (float** floats : {&x_, &y_, &velocity_x_, &velocity_y_, &speed_}) *floats = reinterpret_cast<float*>(next());
    for (float*& floats : taken_) floats = reinterpret_cast<float*>(next());
    for (int** ints : {&places_, &near_, &taken_places_, &cells_}) *ints = reinterpret_cast<int*>(next());
    squares_ = reinterpret_cast<float*>(next());
    by_distance_.reserve(padded);
}

void Shoal::take(const Schools& schools, int school, float radius) {
    const int fish = schools.fish;
    const std::ptrdiff_t stride = schools.stride;
    const std::ptrdiff_t first = stride * fish * school;
    const std::uint8_t* const alive = schools.alive + static_cast<std::ptrdiff_t>(fish) * school;
    const bool may_sort = fish >= kSortedFrom;
    rows_ = columns_ = 1;
    float* const x = may_sort ? taken_[0] : x_;
    float* const y = may_sort ? taken_[1] : y_;
    float* const velocity_x = may_sort ? taken_[2] : velocity_x_;
    float* const velocity_y = may_sort ? taken_[3] : velocity_y_;
    int* const places = may_sort ? taken_places_ : places_;
    int count = 0;
    for (int i = 0; i < fish; ++i) {
        const std::ptrdiff_t place = first + stride * i;
        x[count] = schools.x[place];
        y[count] = schools.y[place];
        velocity_x[count] = 0.5f * schools.velocity_x[place];
        velocity_y[count] = 0.5f * schools.velocity_y[place];
        places[count] = i;
        // Nobody is within any distance of a fish at infinity or nowhere.
        const bool somewhere = x[count] - x[count] == 0 && y[count] - y[count] == 0;
        count += (alive[i] != 0) & somewhere;
    }
    count_ = count;
    if (may_sort) sort(radius);
    const int padded = (count + kMostLanes - 1) / kMostLanes * kMostLanes;
    std::fill(x_ + count, x_ + padded, std::numeric_limits<float>::quiet_NaN());
    std::fill(y_ + count, y_ + padded, std::numeric_limits<float>::quiet_NaN());
}

int Shoal::row_of(float y) const { return cell_of((y - top_) * rows_a_unit_, rows_); }
int Shoal::column_of(float x) const { return cell_of((x - left_) * columns_a_unit_, columns_); }

void Shoal::sort(float radius) {
    float right = -std::numeric_limits<float>::infinity();
    float bottom = right;
    left_ = top_ = -right;
    for (int i = 0; i < count_; ++i) {
        left_ = std::min(left_, taken_[0][i]);
        right = std::max(right, taken_[0][i]);
        top_ = std::min(top_, taken_[1][i]);
        bottom = std::max(bottom, taken_[1][i]);
    }
    const float width = right - left_;
    const float height = bottom - top_;
    // A lost fish far away makes the cells large, which costs time and nothing else.
    const auto cells = [](float length, float cell, int most) {
        return length < cell * static_cast<float>(most) ? std::max(1, static_cast<int>(std::ceil(length / cell)))
                                                        : most;
    };
    if (count_ >= kSortedFrom && width < kMostWater && height < kMostWater) {
        rows_ = cells(height, kRowHeight * radius, kMostRows);
        columns_ = cells(width, kColumnWidth * radius, std::min(kMostColumns, kMostCellsAFish * count_ / rows_));
    }
    const int last = rows_ * columns_;
    rows_a_unit_ = rows_ == 1 ? 0 : static_cast<float>(rows_) / height;
    columns_a_unit_ = columns_ == 1 ? 0 : static_cast<float>(columns_) / width;
    reach_ = kReach * radius;
    std::fill(starts_.begin(), starts_.begin() + last + 1, 0);
    for (int i = 0; i < count_; ++i) {
        cells_[i] = row_of(taken_[1][i]) * columns_ + column_of(taken_[0][i]);
        ++starts_[cells_[i] + 1];
    }
    for (int cell = 0; cell < last; ++cell) starts_[cell + 1] += starts_[cell];
    // Each start moves to the end of its cell, which is where the next one starts.
    for (int i = 0; i < count_; ++i) {
        const int place = starts_[cells_[i]]++;
        x_[place] = taken_[0][i];
        y_[place] = taken_[1][i];
        velocity_x_[place] = taken_[2][i];
        velocity_y_[place] = taken_[3][i];
        places_[place] = taken_places_[i];
    }
    std::copy_backward(starts_.begin(), starts_.begin() + last, starts_.begin() + last + 1);
    starts_[0] = 0;
}

std::pair<const Range*, int> Shoal::around(Range fish) {
    if (rows_ * columns_ == 1) {
        ranges_[0] = {0, count_};
        return {ranges_.data(), 1};
    }
    const auto [left, right] = std::minmax_element(x_ + fish.first, x_ + fish.last);
    const auto [top, bottom] = std::minmax_element(y_ + fish.first, y_ + fish.last);
    const int first_column = column_of(*left - reach_);
    const int last_column = column_of(*right + reach_);
    const int last_row = row_of(*bottom + reach_);
    int found = 0;
    for (int row = row_of(*top - reach_); row <= last_row; ++row) {
        const int* cells = starts_.data() + row * columns_;
        ranges_[found++] = {cells[first_column], cells[last_column + 1]};
    }
    return {ranges_.data(), found};
}

Shoal::Offset Shoal::nearest(int fish, int lane, int lanes, int near, int wanted) {
    by_distance_.clear();
    for (int i = 0; i < near; ++i) {
        const float square = squares_[i * lanes + lane];
        if (square >= 0) by_distance_.emplace_back(square, places_[near_[i]]);
    }
    const auto last = by_distance_.begin() + (wanted - 1);
    std::nth_element(by_distance_.begin(), last, by_distance_.end());
    Offset sum{0, 0};
    for (int i = 0; i < near; ++i) {
        const float square = squares_[i * lanes + lane];
        if (!(square >= 0) || *last < std::pair(square, places_[near_[i]])) continue;
        sum.x += x_[near_[i]] - x_[fish];
        sum.y += y_[near_[i]] - y_[fish];
    }
    return sum;
}

}  // namespace fish
