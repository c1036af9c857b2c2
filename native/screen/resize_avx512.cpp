#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "nes/types.h"
#include "screen/resize_plan.h"

// GCC 12 takes the undefined lanes inside its own intrinsics for a mistake of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")))

namespace screen {
namespace {

constexpr int kMostGroups = 4;  // of sixteen columns each: four groups end in one register of bytes

// Takes the quotients of up to four groups of sums to bytes in the order of the columns.
template <int kGroups>
AVX512 inline __m512i quotients(const __m512i* sums, __m512i shift, __m512i multiplier) {
    __m512i parts[kMostGroups];
#pragma GCC unroll 4
    for (int group = 0; group < kMostGroups; ++group) {
        parts[group] = group < kGroups ? _mm512_srlv_epi32(sums[group], shift) : _mm512_setzero_si512();
    }
    const __m512i low = _mm512_mulhi_epu16(_mm512_packus_epi32(parts[0], parts[1]), multiplier);
    const __m512i high =
        kGroups > 2 ? _mm512_mulhi_epu16(_mm512_packus_epi32(parts[2], parts[3]), multiplier) : parts[3];
    // Packing works within quarters of a register: gather the four columns of each group and quarter.
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
}

// All lines of kGroups times sixteen columns. The store of a line may run into the beginning of the next one, which is
// written later; only the last line must end where it ends.
template <int kGroups, bool kLarger>
AVX512 void resize_groups(const ResizePlan& plan, int first_group, const std::uint8_t* pixels,
                          const std::uint8_t* other, std::uint8_t* out) {
    __m512i picks[kGroups];
    __m512i weights[kGroups];
    __m512i across[kGroups];  // the source line met last, summed across: two words for each column
    int starts[kGroups];
#pragma GCC unroll 4
    for (int group = 0; group < kGroups; ++group) {
        const ResizePlan::SixteenColumns& columns = plan.sixteens[first_group + group];
        picks[group] = _mm512_loadu_si512(columns.picks);
        weights[group] = _mm512_loadu_si512(columns.weights);
        across[group] = _mm512_setzero_si512();
        starts[group] = columns.start;
    }
    const __m512i rounding = _mm512_set1_epi32(static_cast<int>(plan.rounding));
    const __m512i shift = _mm512_set1_epi32(static_cast<int>(plan.shift));
    const __m512i multiplier = _mm512_set1_epi16(static_cast<short>(plan.multiplier));
    const std::uint16_t* line_weight = plan.line_weights.data();
    for (int line = 0; line < plan.height; ++line) {
        const ResizePlan::Line step = plan.lines[line];
        __m512i sums[kGroups];
        const __m512i again = _mm512_set1_epi16(static_cast<short>(step.again));
#pragma GCC unroll 4
        for (int group = 0; group < kGroups; ++group) {
            sums[group] = _mm512_dpwssd_epi32(rounding, across[group], again);
        }
        for (int fresh = 0; fresh < step.fresh; ++fresh) {
            const __m512i weight = _mm512_set1_epi16(static_cast<short>(*line_weight++));
#pragma GCC unroll 4
            for (int group = 0; group < kGroups; ++group) {
                __m512i source = _mm512_loadu_si512(pixels + starts[group]);
                if (kLarger) source = _mm512_max_epu8(source, _mm512_loadu_si512(other + starts[group]));
                const __m512i picked = _mm512_permutexvar_epi8(picks[group], source);
                across[group] = _mm512_maddubs_epi16(picked, weights[group]);
                sums[group] = _mm512_dpwssd_epi32(sums[group], across[group], weight);
            }
            pixels += nes::kScreenWidth;
            if (kLarger) other += nes::kScreenWidth;
        }
        const __m512i bytes = quotients<kGroups>(sums, shift, multiplier);
        const int column = 16 * first_group;
        if (line + 1 == plan.height) {
            alignas(64) std::uint8_t last[64];
            _mm512_store_si512(last, bytes);
            const int left = plan.width - column;
            std::memcpy(out + column, last, left < 16 * kGroups ? left : 16 * kGroups);
        } else if (kGroups > 2) {
            _mm512_storeu_si512(out + column, bytes);
        } else {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + column), _mm512_castsi512_si256(bytes));
        }
        out += plan.width;
    }
}

template <bool kLarger>
void resize_all(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) {
    const int groups = (plan.width + 15) / 16;
    const int whole = groups / kMostGroups * kMostGroups;
    // From right to left, since a store may run over the right edge.
    switch (groups - whole) {
        case 3:
            resize_groups<3, kLarger>(plan, whole, pixels, other, out);
            break;
        case 2:
            resize_groups<2, kLarger>(plan, whole, pixels, other, out);
            break;
        case 1:
            resize_groups<1, kLarger>(plan, whole, pixels, other, out);
            break;
        default:
            break;
    }
    for (int group = whole - kMostGroups; group >= 0; group -= kMostGroups) {
        resize_groups<kMostGroups, kLarger>(plan, group, pixels, other, out);
    }
}

}  // namespace

void resize_avx512(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) {
    if (other == nullptr) {
        resize_all<false>(plan, pixels, other, out);
    } else {
        resize_all<true>(plan, pixels, other, out);
    }
}

}  // namespace screen

#endif
