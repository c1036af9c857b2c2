#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "nes/types.h"
#include "screen/resize_plan.h"

#define AVX2 __attribute__((target("avx2")))

namespace screen {
namespace {

constexpr int kGroups = 4;    // of eight columns each
constexpr int kColumns = 32;  // of a block

AVX2 inline __m256i halves(const void* low, const void* high) {
    const __m128i first = _mm_loadu_si128(static_cast<const __m128i*>(low));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), _mm_loadu_si128(static_cast<const __m128i*>(high)),
                                   1);
}

// The lower half of group g holds the columns 4g.. of the block and the upper half the columns 16 + 4g..: packing
// works within halves, and so puts all 32 in order.
template <bool kLarger>
AVX2 void resize_block(const ResizePlan& plan, int block, const std::uint8_t* pixels, const std::uint8_t* other,
                       std::uint8_t* out) {
    const ResizePlan::FourColumns* columns = plan.fours.data() + 8 * block;
    __m256i picks[kGroups];
    __m256i weights[kGroups];
    __m256i across[kGroups];  // the source line met last, summed across: two words for each column
#pragma GCC unroll 4
    for (int group = 0; group < kGroups; ++group) {
        picks[group] = halves(columns[group].picks, columns[group + 4].picks);
        weights[group] = halves(columns[group].weights, columns[group + 4].weights);
        across[group] = _mm256_setzero_si256();
    }
    const __m256i rounding = _mm256_set1_epi32(static_cast<int>(plan.rounding));
    const __m256i shift = _mm256_set1_epi32(static_cast<int>(plan.shift));
    const __m256i multiplier = _mm256_set1_epi16(static_cast<short>(plan.multiplier));
    const std::uint16_t* line_weight = plan.line_weights.data();
    out += kColumns * block;
    for (int line = 0; line < plan.height; ++line) {
        const ResizePlan::Line step = plan.lines[line];
        __m256i sums[kGroups];
        const __m256i again = _mm256_set1_epi16(static_cast<short>(step.again));
#pragma GCC unroll 4
        for (int group = 0; group < kGroups; ++group) {
            sums[group] = _mm256_add_epi32(rounding, _mm256_madd_epi16(across[group], again));
        }
        for (int fresh = 0; fresh < step.fresh; ++fresh) {
            const __m256i weight = _mm256_set1_epi16(static_cast<short>(*line_weight++));
#pragma GCC unroll 4
            for (int group = 0; group < kGroups; ++group) {
                const int low = columns[group].start;
                const int high = columns[group + 4].start;
                __m256i source = halves(pixels + low, pixels + high);
                if (kLarger) source = _mm256_max_epu8(source, halves(other + low, other + high));
                across[group] = _mm256_maddubs_epi16(_mm256_shuffle_epi8(source, picks[group]), weights[group]);
                sums[group] = _mm256_add_epi32(sums[group], _mm256_madd_epi16(across[group], weight));
            }
            pixels += nes::kScreenWidth;
            if (kLarger) other += nes::kScreenWidth;
        }
#pragma GCC unroll 4
        for (int group = 0; group < kGroups; ++group) sums[group] = _mm256_srlv_epi32(sums[group], shift);
        const __m256i low = _mm256_mulhi_epu16(_mm256_packus_epi32(sums[0], sums[1]), multiplier);
        const __m256i high = _mm256_mulhi_epu16(_mm256_packus_epi32(sums[2], sums[3]), multiplier);
        const __m256i bytes = _mm256_packus_epi16(low, high);
        // The store may run into the beginning of the next line, which is written later.
        if (line + 1 < plan.height) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
        } else {
            alignas(32) std::uint8_t last[kColumns];
            _mm256_store_si256(reinterpret_cast<__m256i*>(last), bytes);
            const int left = plan.width - kColumns * block;
            std::memcpy(out, last, left < kColumns ? left : kColumns);
        }
        out += plan.width;
    }
}

}  // namespace

void resize_avx2(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) {
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
