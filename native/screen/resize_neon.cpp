#if defined(__aarch64__)

#include <arm_neon.h>

#include <algorithm>
#include <cstring>

#include "nes/types.h"
#include "screen/resize_plan.h"

namespace screen {
namespace {

constexpr int kGroups = 4;    // of four columns each
constexpr int kColumns = 16;  // of a block

struct Tables {
    uint8x16_t picks[kGroups];
    uint8x16_t weights[kGroups];
    long starts[kGroups];
};

// One source line times `weight`, added to `sums`; `across` becomes the line summed across.
template <bool kLarger>
inline void add_line(const Tables& tables, const std::uint8_t*& pixels, const std::uint8_t*& other,
                     std::uint32_t weight, uint32x4_t* across, uint32x4_t* sums) {
    for (int group = 0; group < kGroups; ++group) {
        uint8x16_t source = vld1q_u8(pixels + tables.starts[group]);
        if (kLarger) source = vmaxq_u8(source, vld1q_u8(other + tables.starts[group]));
        const uint8x16_t picked = vqtbl1q_u8(source, tables.picks[group]);
        const uint16x8_t low = vmull_u8(vget_low_u8(picked), vget_low_u8(tables.weights[group]));
        const uint16x8_t high = vmull_high_u8(picked, tables.weights[group]);
        across[group] = vpaddlq_u16(vpaddq_u16(low, high));
        sums[group] = vmlaq_n_u32(sums[group], across[group], weight & 0xFFFF);
    }
    pixels += nes::kScreenWidth;
    if (kLarger) other += nes::kScreenWidth;
}

template <bool kLarger>
void resize_block(const ResizePlan& plan, int block, const std::uint8_t* pixels, const std::uint8_t* other,
                  std::uint8_t* out) {
    const ResizePlan::FourColumns* columns = plan.fours.data() + kGroups * block;
    Tables tables;
    uint32x4_t begun[kGroups];  // the source line the last destination line ended in
    for (int group = 0; group < kGroups; ++group) {
        tables.picks[group] = vld1q_u8(columns[group].picks);
        tables.weights[group] = vreinterpretq_u8_s8(vld1q_s8(columns[group].weights));
        tables.starts[group] = columns[group].start;
        begun[group] = vdupq_n_u32(0);
    }
    const int32x4_t shift = vdupq_n_s32(-static_cast<int>(plan.shift));
    const ResizePlan::Line* step = plan.lines.data();
    out += kColumns * block;
    for (int left = plan.height; left > 0; --left, ++step, out += plan.width) {
        uint32x4_t sums[kGroups];
        for (int group = 0; group < kGroups; ++group) {
            sums[group] = vmlaq_n_u32(vdupq_n_u32(plan.rounding), begun[group], step->rest & 0xFFFF);
        }
        for (int i = step->whole; i > 0; --i) add_line<kLarger>(tables, pixels, other, plan.whole_line, begun, sums);
        if (step->beginning != 0) add_line<kLarger>(tables, pixels, other, step->beginning, begun, sums);
        uint16x4_t quotients[kGroups];
        for (int group = 0; group < kGroups; ++group) {
            quotients[group] = vshrn_n_u32(vmulq_n_u32(vshlq_u32(sums[group], shift), plan.multiplier), 16);
        }
        const uint16x8_t low = vcombine_u16(quotients[0], quotients[1]);
        const uint16x8_t high = vcombine_u16(quotients[2], quotients[3]);
        const uint8x16_t bytes = vcombine_u8(vmovn_u16(low), vmovn_u16(high));
        // The store may run into the beginning of the next line, which is written later.
        if (left > 1) {
            vst1q_u8(out, bytes);
        } else {
            std::uint8_t last[kColumns];
            vst1q_u8(last, bytes);
            std::memcpy(out, last, std::min(kColumns, plan.width - kColumns * block));
        }
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
