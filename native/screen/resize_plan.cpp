#include "screen/resize_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "nes/types.h"

namespace screen {
namespace {

constexpr int kSourceWidth = nes::kScreenWidth;
constexpr int kSourceHeight = nes::kScreenHeight;

}  // namespace

ResizePlan::ResizePlan(int new_height, int new_width) : height(new_height), width(new_width) {
    const int across = std::gcd(kSourceWidth, width);
    const int down = std::gcd(kSourceHeight, height);
    int source_line_units = height / down;
    int line_units = kSourceHeight / down;
    const int column_units = kSourceWidth / across;
    // A divisor of 1 would need a multiplier of 17 bits: measure the lines in half units.
    if (column_units * line_units == 1) {
        source_line_units *= 2;
        line_units *= 2;
    }
    plan_lines(source_line_units, line_units);
    plan_columns(width / across, column_units);

    const auto divisor = static_cast<std::uint32_t>(column_units * line_units);
    const auto twos = static_cast<std::uint32_t>(std::countr_zero(divisor));
    const std::uint32_t odd = divisor >> twos;
    rounding = divisor / 2;
    shift = odd == 1 ? twos - 1 : twos;
    multiplier = odd == 1 ? 32768 : (65536 + odd - 1) / odd;

    plan_vectors();
}

void ResizePlan::plan_lines(int source_units, int line_units) {
    int seen = 0;  // source lines met so far
    for (int line = 0; line < height; ++line) {
        const int begin = line * line_units;
        const int end = begin + line_units;
        const int again = std::clamp(seen * source_units - begin, 0, line_units);
        int fresh = 0;
        for (; seen * source_units < end; ++seen, ++fresh) {
            const int overlap = std::min(end, (seen + 1) * source_units) - seen * source_units;
            line_weights.push_back(static_cast<std::uint16_t>(overlap));
        }
        lines.push_back({static_cast<std::uint16_t>(again), static_cast<std::uint16_t>(fresh)});
    }
}

void ResizePlan::plan_columns(int source_units, int column_units) {
    for (int column = 0; column < width; ++column) {
        const int begin = column * column_units;
        const int end = begin + column_units;
        const int first = begin / source_units;
        const int last = (end - 1) / source_units;
        columns.push_back({static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last - first + 1),
                           static_cast<std::uint32_t>(column_weights.size())});
        for (int source = first; source <= last; ++source) {
            const int overlap = std::min(end, (source + 1) * source_units) - std::max(begin, source * source_units);
            column_weights.push_back(static_cast<std::uint16_t>(overlap));
        }
    }
}

void ResizePlan::plan_vectors() {
    // Two pixels times their weights must fit 16 signed bits, a weight 8; and the pixels of four columns must lie
    // within 16 bytes, those of sixteen columns within 64.
    const int across = std::gcd(kSourceWidth, width);
    const int heaviest = *std::max_element(column_weights.begin(), column_weights.end());
    const auto wide = [](const Column& column) { return column.count > 4; };
    vectors_fit = width >= 64 && kSourceWidth / across <= 128 && heaviest <= 127 &&
                  std::none_of(columns.begin(), columns.end(), wide);
    if (!vectors_fit) return;

    const int padded = (width + 63) / 64 * 64;
    fours.resize(padded / 4);
    sixteens.resize(padded / 16);
    for (int four = 0; four < padded / 4; ++four) {
        FourColumns& block = fours[four];
        SixteenColumns& wide_block = sixteens[four / 4];
        const auto first_source = [&](int column) -> int { return columns[std::min(column, width - 1)].first; };
        block = {};
        block.start = std::min(first_source(4 * four), kSourceWidth - 16);
        if (four % 4 == 0) {
            wide_block = {};
            wide_block.start = std::min(first_source(4 * four), kSourceWidth - 64);
        }
        for (int i = 0; i < 16; ++i) {
            const int column = 4 * four + i / 4;
            if (column >= width || i % 4 >= columns[column].count) continue;
            const int source = columns[column].first + i % 4;
            const int in_wide = 16 * (four % 4) + i;
            const auto weight = static_cast<std::int8_t>(column_weights[columns[column].weight + i % 4]);
            block.picks[i] = static_cast<std::uint8_t>(source - block.start);
            wide_block.picks[in_wide] = static_cast<std::uint8_t>(source - wide_block.start);
            block.weights[i] = weight;
            wide_block.weights[in_wide] = weight;
        }
    }
}

}  // namespace screen
