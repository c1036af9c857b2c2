#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "nes/types.h"
#include "screen/resize_plan.h"

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE AVX2 __attribute__((always_inline)) inline

namespace screen {
namespace {

constexpr int kGroups = 4;    // of eight columns each
constexpr int kColumns = 32;  // of a block

AVX2_INLINE __m256i halves(const void* low, const void* high) {
    const __m128i first = _mm_loadu_si128(static_cast<const __m128i*>(low));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), _mm_loadu_si128(static_cast<const __m128i*>(high)),
                                   1);
}

// The lower half of group g holds the columns 4g.. of the block and the upper half the columns 16 + 4g..: packing
// works within halves, and so puts all 32 in order.
struct Tables {
    __m256i picks[kGroups];
    __m256i weights[kGroups];
    long low[kGroups];
    long high[kGroups];
};

// One source line times `weight`, added to `sums`; `across` becomes the line summed across, two words for each column.
template <bool kLarger>
AVX2_INLINE void add_line(const Tables& tables, const std::uint8_t*& pixels, const std::uint8_t*& other,
                          std::uint32_t weight, __m256i* across, __m256i* sums) {
    const __m256i weights = _mm256_set1_epi32(static_cast<int>(weight));
#pragma GCC unroll 4
    for (int group = 0; group < kGroups; ++group) {
        __m256i source = halves(pixels + tables.low[group], pixels + tables.high[group]);
        if (kLarger) {
            source = _mm256_max_epu8(source, halves(other + tables.low[group], other + tables.high[group]));
        }
        const __m256i picked = _mm256_shuffle_epi8(source, tables.picks[group]);
        across[group] = _mm256_maddubs_epi16(picked, tables.weights[group]);
        sums[group] = _mm256_add_epi32(sums[group], _mm256_madd_epi16(across[group], weights));
    }
    pixels += nes::kScreenWidth;
    if (kLarger) other += nes::kScreenWidth;
}

template <bool kLarger>
AVX2 void resize_block(const ResizePlan& plan, int block, const std::uint8_t* pixels, const std::uint8_t* other,
                       std::uint8_t* out) {
    const ResizePlan::FourColumns* columns = plan.fours.data() + 8 * block;
    Tables tables;
    __m256i begun[kGroups];  // the source line the last destination line ended in
#pragma GCC unroll 4
    for (int group = 0; group < kGroups; ++group) {
        tables.picks[group] = halves(columns[group].picks, columns[group + 4].picks);
        tables.weights[group] = halves(columns[group].weights, columns[group + 4].weights);
        tables.low[group] = columns[group].start;
        tables.high[group] = columns[group + 4].start;
        begun[group] = _mm256_setzero_si256();
    }
    const __m256i rounding = _mm256_set1_epi32(static_cast<int>(plan.rounding));
    const __m256i shift = _mm256_set1_epi32(static_cast<int>(plan.shift));
    const __m256i multiplier = _mm256_set1_epi16(static_cast<short>(plan.multiplier));
    const std::uint32_t whole_line = plan.whole_line;
    const long width = plan.width;
    const ResizePlan::Line* step = plan.lines.data();
    out += kColumns * block;
    for (int left = plan.height; left > 0; --left, ++step, out += width) {
        __m256i sums[kGroups];
        const __m256i rest = _mm256_set1_epi32(static_cast<int>(step->rest));
#pragma GCC unroll 4
        for (int group = 0; group < kGroups; ++group) {
            sums[group] = _mm256_add_epi32(rounding, _mm256_madd_epi16(begun[group], rest));
        }
        for (int i = step->whole; i > 0; --i) add_line<kLarger>(tables, pixels, other, whole_line, begun, sums);
        if (step->beginning != 0) add_line<kLarger>(tables, pixels, other, step->beginning, begun, sums);
#pragma GCC unroll 4
        for (int group = 0; group < kGroups; ++group) sums[group] = _mm256_srlv_epi32(sums[group], shift);
        const __m256i low = _mm256_mulhi_epu16(_mm256_packus_epi32(sums[0], sums[1]), multiplier);
        const __m256i high = _mm256_mulhi_epu16(_mm256_packus_epi32(sums[2], sums[3]), multiplier);
        const __m256i bytes = _mm256_packus_epi16(low, high);
        // The store may run into the beginning of the next line, which is written later.
        if (left > 1) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
        } else {
            alignas(32) std::uint8_t last[kColumns];
            _mm256_store_si256(reinterpret_cast<__m256i*>(last), bytes);
            std::memcpy(out, last, std::min<long>(kColumns, width - kColumns * block));
        }
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
