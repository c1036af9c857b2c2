#include "screen/resize_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "nes/types.h"

namespace screen {
namespace {

constexpr int kSourceWidth = nes::kScreenWidth;
constexpr int kSourceHeight = nes::kScreenHeight;

std::uint32_t in_both_halves(int weight) { return static_cast<std::uint32_t>(weight) * 0x10001; }

// Where the window of `size` source pixels lies from which first..last are picked: on a multiple of its size if it can,
// since such loads are cheaper, and always within the line.
int window_start(int first, int last, int size) {
    const int aligned = first / size * size;
    return last < aligned + size ? aligned : std::min(first, kSourceWidth - size);
}

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
    plan_division(column_units * line_units);
    plan_lines(source_line_units, line_units);
    plan_columns(width / across, column_units);
    plan_vectors();
}

void ResizePlan::plan_division(int divisor) {
    const int twos = std::countr_zero(static_cast<unsigned>(divisor));
    const int odd = divisor >> twos;
    const int exact_shift = odd == 1 ? twos - 1 : twos;
    multiplier = odd == 1 ? 32768 : (65536 + odd - 1) / odd;
    shift = (exact_shift + 7) / 8 * 8;
    scale = shift - exact_shift;
    rounding = static_cast<std::uint32_t>(divisor / 2) << scale;
}

void ResizePlan::plan_lines(int source_units, int line_units) {
    whole_line = in_both_halves(source_units) << scale;
    int met = 0;  // source lines so far, including one that has only begun
    for (int line = 0; line < height; ++line) {
        const int rest = std::min(met * source_units - line * line_units, line_units);
        const int whole = (line_units - rest) / source_units;
        const int beginning = line_units - rest - whole * source_units;
        met += whole + (beginning > 0 ? 1 : 0);
        lines.push_back({in_both_halves(rest) << scale, whole, in_both_halves(beginning) << scale});
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
        const auto window = [&](int first, int last, int size) {
            const Column& end = columns[std::min(last, width - 1)];
            return window_start(columns[std::min(first, width - 1)].first, end.first + end.count - 1, size);
        };
        block = {};
        block.start = window(4 * four, 4 * four + 3, 16);
        if (four % 4 == 0) {
            wide_block = {};
            wide_block.start = window(4 * four, 4 * four + 15, 64);
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
