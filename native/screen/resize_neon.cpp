#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstring>

#include "nes/types.h"
#include "screen/resize_plan.h"

namespace screen {
namespace {

constexpr int kGroups = 4;    // of four columns each
constexpr int kColumns = 16;  // of a block

template <bool kLarger>
void resize_block(const ResizePlan& plan, int block, const std::uint8_t* pixels, const std::uint8_t* other,
                  std::uint8_t* out) {
    const ResizePlan::FourColumns* columns = plan.fours.data() + kGroups * block;
    uint8x16_t picks[kGroups];
    uint8x16_t weights[kGroups];
    uint32x4_t across[kGroups];  // the source line met last, summed across
    for (int group = 0; group < kGroups; ++group) {
        picks[group] = vld1q_u8(columns[group].picks);
        weights[group] = vreinterpretq_u8_s8(vld1q_s8(columns[group].weights));
        across[group] = vdupq_n_u32(0);
    }
    const int32x4_t shift = vdupq_n_s32(-static_cast<int>(plan.shift));
    const std::uint16_t* line_weight = plan.line_weights.data();
    out += kColumns * block;
    for (int line = 0; line < plan.height; ++line) {
        const ResizePlan::Line step = plan.lines[line];
        uint32x4_t sums[kGroups];
        for (int group = 0; group < kGroups; ++group) {
            sums[group] = vmlaq_n_u32(vdupq_n_u32(plan.rounding), across[group], step.again);
        }
        for (int fresh = 0; fresh < step.fresh; ++fresh) {
            const std::uint32_t weight = *line_weight++;
            for (int group = 0; group < kGroups; ++group) {
                uint8x16_t source = vld1q_u8(pixels + columns[group].start);
                if (kLarger) source = vmaxq_u8(source, vld1q_u8(other + columns[group].start));
                const uint8x16_t picked = vqtbl1q_u8(source, picks[group]);
                const uint16x8_t low = vmull_u8(vget_low_u8(picked), vget_low_u8(weights[group]));
                const uint16x8_t high = vmull_high_u8(picked, weights[group]);
                across[group] = vpaddlq_u16(vpaddq_u16(low, high));
                sums[group] = vmlaq_n_u32(sums[group], across[group], weight);
            }
            pixels += nes::kScreenWidth;
            if (kLarger) other += nes::kScreenWidth;
        }
        uint16x4_t quotients[kGroups];
        for (int group = 0; group < kGroups; ++group) {
            quotients[group] = vshrn_n_u32(vmulq_n_u32(vshlq_u32(sums[group], shift), plan.multiplier), 16);
        }
        const uint16x8_t low = vcombine_u16(quotients[0], quotients[1]);
        const uint16x8_t high = vcombine_u16(quotients[2], quotients[3]);
        const uint8x16_t bytes = vcombine_u8(vmovn_u16(low), vmovn_u16(high));
        // The store may run into the beginning of the next line, which is written later.
        if (line + 1 < plan.height) {
            vst1q_u8(out, bytes);
        } else {
            std::uint8_t last[kColumns];
            vst1q_u8(last, bytes);
            const int left = plan.width - kColumns * block;
            std::memcpy(out, last, left < kColumns ? left : kColumns);
        }
        out += plan.width;
    }
}

}  // namespace

void resize_neon(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) {
    // From right to left, since a store may run over the right edge.
    for (int block = (plan.width - 1) / kColumns; block >= 0; --block) {
        if (other == nullptr) {
            resize_block<false>(plan, block, pixels, other, out);
        } else {
            resize_block<true>(plan, block, pixels, other, out);
        }
    }
}

}  // namespace screen

#endif
