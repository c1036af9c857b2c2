// What a resize to one size needs to know, worked out once: which source pixels make up each pixel, and how heavily.
// Internal to screen/; callers use GreyResizer.
#pragma once

#include <cstdint>
#include <vector>

namespace screen {

// Source pixels and lines are measured in units of which both a source and a destination pixel hold a whole number.
// Weights are overlaps in these units, so that every sum is exact.
struct ResizePlan {
    ResizePlan(int height, int width);

    // The divisor is 1, 3, 5 or 15 times a power of two, so that (sum >> shift) * multiplier >> 16 is the exact
    // quotient. Line weights are scaled by a power of two that makes the shift a number of whole bytes.
    std::uint8_t divided(std::uint32_t sum) const {
        return static_cast<std::uint8_t>(((sum + rounding) >> shift) * multiplier >> 16);
    }

    int height;
    int width;
    std::uint32_t rounding;  // half a divisor: added before the division
    int shift;
    std::uint32_t multiplier;

    // A destination line is made of the rest of the source line its predecessor ended in, of source lines that lie
    // within it, and of the beginning of one more. Weights stand in both halves of a word, as vectors multiply.
    struct Line {
        std::uint32_t rest;       // weight; 0 if the predecessor ended at an edge
        int whole;                // how many source lines, each of weight whole_line
        std::uint32_t beginning;  // weight; 0 if this line ends at an edge
    };
    std::vector<Line> lines;
    std::uint32_t whole_line;
    int scale;  // bits by which these weights are scaled up

    struct Column {
        std::uint16_t first;   // source pixel
        std::uint16_t count;   // source pixels
        std::uint32_t weight;  // where its weights start in column_weights
    };
    std::vector<Column> columns;
    std::vector<std::uint16_t> column_weights;

    // The rest serves the vector paths, which take widths whose pixels come from at most four source pixels each.
    bool vectors_fit;
    struct FourColumns {
        alignas(16) std::uint8_t picks[16];   // four source pixels for each of four columns, counted from start
        alignas(16) std::int8_t weights[16];  // 0 where there are fewer
        int start;
    };
    struct SixteenColumns {
        alignas(64) std::uint8_t picks[64];
        alignas(64) std::int8_t weights[64];
        int start;
    };
    std::vector<FourColumns> fours;  // padded to a multiple of 64 columns by columns of weight 0
    std::vector<SixteenColumns> sixteens;

  private:
    void plan_division(int divisor);
    void plan_lines(int source_units, int line_units);
    void plan_columns(int source_units, int column_units);
    void plan_vectors();
};

// Averages `pixels` (256x240), or the larger of each pixel of `pixels` and `other`, into `out` (height x width).
void resize_plain(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out);
// These need plan.vectors_fit.
void resize_avx2(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out);
void resize_avx512(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out);
void resize_neon(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out);

}  // namespace screen
