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

    // Sums are at most 255 * divisor. The divisor is an odd part of 1, 3, 5 or 15 times a power of two, so that
    // (sum >> shift) * multiplier >> 16 is the exact quotient.
    std::uint8_t divided(std::uint32_t sum) const {
        return static_cast<std::uint8_t>(((sum + rounding) >> shift) * multiplier >> 16);
    }

    int height;
    int width;
    std::uint32_t rounding;  // half a divisor: added before the division
    std::uint32_t shift;
    std::uint32_t multiplier;

    // A destination line is `again` times the source line its predecessor ended in, plus its new source lines.
    struct Line {
        std::uint16_t again;  // 0 if the predecessor ended at an edge
        std::uint16_t fresh;  // how many new source lines
    };
    std::vector<Line> lines;                  // one for each destination line
    std::vector<std::uint16_t> line_weights;  // one for each source line: its part in the line that meets it first

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
