#include <algorithm>

#include "nes/types.h"
#include "screen/resize_plan.h"

namespace screen {
namespace {

using SourceLine = std::uint8_t[nes::kScreenWidth];
using Sums = std::uint16_t[nes::kScreenWidth];  // 255 times at most 240 units fits; scaled up it would not

void larger_of(const std::uint8_t* a, const std::uint8_t* b, SourceLine& larger) {
    for (int x = 0; x < nes::kScreenWidth; ++x) larger[x] = std::max(a[x], b[x]);
}

void add_line(const std::uint8_t* line, unsigned weight, Sums& sums) {
    for (int x = 0; x < nes::kScreenWidth; ++x) sums[x] = static_cast<std::uint16_t>(sums[x] + line[x] * weight);
}

}  // namespace

void resize_plain(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) {
    SourceLine larger;
    const std::uint8_t* begun = pixels;  // the source line the last destination line ended in
    for (const ResizePlan::Line& step : plan.lines) {
        Sums sums = {};
        const auto unscaled = [&](std::uint32_t weight) { return (weight & 0xFFFF) >> plan.scale; };
        const auto add_next = [&](std::uint32_t weight) {
            begun = pixels;
            if (other != nullptr) {
                larger_of(pixels, other, larger);
                begun = larger;
                other += nes::kScreenWidth;
            }
            pixels += nes::kScreenWidth;
            add_line(begun, unscaled(weight), sums);
        };
        if (step.rest != 0) add_line(begun, unscaled(step.rest), sums);
        for (int i = 0; i < step.whole; ++i) add_next(plan.whole_line);
        if (step.beginning != 0) add_next(step.beginning);
        for (const ResizePlan::Column& column : plan.columns) {
            const std::uint16_t* weights = plan.column_weights.data() + column.weight;
            std::uint32_t sum = 0;
            for (int i = 0; i < column.count; ++i) sum += std::uint32_t{sums[column.first + i]} * weights[i];
            *out++ = plan.divided(sum << plan.scale);
        }
    }
}

}  // namespace screen
