#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "nes/types.h"
#include "screen/resize_plan.h"

// GCC 12 takes the undefined lanes inside its own intrinsics for a mistake of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")))
#define AVX512_INLINE AVX512 __attribute__((always_inline)) inline

namespace screen {
namespace {

constexpr int kMostGroups = 6;   // of sixteen columns each: what the registers hold, and enough for 84 columns
constexpr int kWholeGroups = 4;  // as many as end in one register of bytes

AVX512_INLINE __m512i counting() {
    alignas(64) static constexpr std::uint8_t kCounting[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    return _mm512_load_si512(kCounting);
}

// From sums to quotients. The shift is a number of bytes, and so part of the shuffles that narrow the numbers.
struct Division {
    __m512i rounding;
    __m512i multiplier;
    __m512i words;  // picks two bytes of each of 32 numbers of four
    __m512i bytes;  // picks a byte of each of 64 numbers of two

    AVX512_INLINE explicit Division(const ResizePlan& plan) {
        const int whole_bytes = static_cast<int>(plan.shift) / 8;
        rounding = _mm512_set1_epi32(static_cast<int>(plan.rounding));
        multiplier = _mm512_set1_epi16(static_cast<short>(plan.multiplier));
        bytes = _mm512_add_epi8(counting(), counting());
        const __m512i odd = _mm512_and_si512(counting(), _mm512_set1_epi8(1));
        words = _mm512_add_epi8(_mm512_sub_epi8(bytes, odd), _mm512_set1_epi8(static_cast<char>(whole_bytes)));
    }

    AVX512_INLINE __m512i quotients(__m512i low, __m512i high) const {
        return _mm512_mulhi_epu16(_mm512_permutex2var_epi8(low, words, high), multiplier);
    }
};

template <int kGroups>
AVX512_INLINE void store_line(const Division& division, const __m512i* sums, std::uint8_t* out) {
    const __m512i low = division.quotients(sums[0], sums[kGroups > 1 ? 1 : 0]);
    if constexpr (kGroups > 2) {
        const __m512i high = division.quotients(sums[2], sums[kGroups > 3 ? 3 : 2]);
        _mm512_storeu_si512(out, _mm512_permutex2var_epi8(low, division.bytes, high));
    } else {
        const __m512i bytes = _mm512_permutexvar_epi8(division.bytes, low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(bytes));
    }
    if constexpr (kGroups > kWholeGroups) {
        store_line<kGroups - kWholeGroups>(division, sums + kWholeGroups, out + 16 * kWholeGroups);
    }
}

template <int kGroups>
struct Tables {
    __m512i picks[kGroups];
    __m512i weights[kGroups];
    long starts[kGroups];
};

// One source line times `weight`, added to `sums`; `across` becomes the line summed across, two words for each column.
template <int kGroups, bool kLarger>
AVX512_INLINE void add_line(const Tables<kGroups>& tables, const std::uint8_t*& pixels, const std::uint8_t*& other,
                            __m512i weight, __m512i* across, __m512i* sums) {
#pragma GCC unroll 6
    for (int group = 0; group < kGroups; ++group) {
        __m512i source = _mm512_loadu_si512(pixels + tables.starts[group]);
        if (kLarger) source = _mm512_max_epu8(source, _mm512_loadu_si512(other + tables.starts[group]));
        const __m512i picked = _mm512_permutexvar_epi8(tables.picks[group], source);
        across[group] = _mm512_maddubs_epi16(picked, tables.weights[group]);
        sums[group] = _mm512_dpwssd_epi32(sums[group], across[group], weight);
    }
    pixels += nes::kScreenWidth;
    if (kLarger) other += nes::kScreenWidth;
}

// All lines of kGroups times sixteen columns. The store of a line may run into the beginning of the next one, which is
// written later; only the last line must end where it ends.
template <int kGroups, bool kLarger>
AVX512 void resize_groups(const ResizePlan& plan, int first_group, const std::uint8_t* pixels,
                          const std::uint8_t* other, std::uint8_t* out) {
    Tables<kGroups> tables;
    __m512i begun[kGroups];  // the source line the last destination line ended in
#pragma GCC unroll 6
    for (int group = 0; group < kGroups; ++group) {
        const ResizePlan::SixteenColumns& columns = plan.sixteens[first_group + group];
        tables.picks[group] = _mm512_load_si512(columns.picks);
        tables.weights[group] = _mm512_load_si512(columns.weights);
        tables.starts[group] = columns.start;
        begun[group] = _mm512_setzero_si512();
    }
    const Division division(plan);
    const __m512i whole_line = _mm512_set1_epi32(static_cast<int>(plan.whole_line));
    const long width = plan.width;
    const ResizePlan::Line* step = plan.lines.data();
    out += 16 * first_group;
    for (int left = plan.height; left > 0; --left, ++step, out += width) {
        __m512i sums[kGroups];
        const __m512i rest = _mm512_set1_epi32(static_cast<int>(step->rest));
#pragma GCC unroll 6
        for (int group = 0; group < kGroups; ++group) {
            sums[group] = _mm512_dpwssd_epi32(division.rounding, begun[group], rest);
        }
        for (int i = step->whole; i > 0; --i) {
            add_line<kGroups, kLarger>(tables, pixels, other, whole_line, begun, sums);
        }
        if (step->beginning != 0) {
            const __m512i beginning = _mm512_set1_epi32(static_cast<int>(step->beginning));
            add_line<kGroups, kLarger>(tables, pixels, other, beginning, begun, sums);
        }
        if (left > 1) {
            store_line<kGroups>(division, sums, out);
        } else {
            alignas(64) std::uint8_t last[2 * 64];
            store_line<kGroups>(division, sums, last);
            std::memcpy(out, last, std::min<long>(16 * kGroups, width - 16 * first_group));
        }
    }
}

template <bool kLarger>
void resize_all(const ResizePlan& plan, const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) {
    const int groups = (plan.width + 15) / 16;
    const int whole =
        groups <= kMostGroups ? 0 : (groups - kMostGroups + kWholeGroups - 1) / kWholeGroups * kWholeGroups;
    // From right to left, since a store may run over the right edge.
    switch (groups - whole) {
        case 6:
            resize_groups<6, kLarger>(plan, whole, pixels, other, out);
            break;
        case 5:
            resize_groups<5, kLarger>(plan, whole, pixels, other, out);
            break;
        case 4:
            resize_groups<4, kLarger>(plan, whole, pixels, other, out);
            break;
        default:
            resize_groups<3, kLarger>(plan, whole, pixels, other, out);
            break;
    }
    for (int group = whole - kWholeGroups; group >= 0; group -= kWholeGroups) {
        resize_groups<kWholeGroups, kLarger>(plan, group, pixels, other, out);
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
