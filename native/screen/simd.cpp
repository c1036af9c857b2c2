#include "screen/simd.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace screen {
namespace {

struct Paths {
    std::array<SimdPath, 4> list{};
    std::size_t count = 0;

    void add(SimdPath path) { list[count++] = path; }
};

Paths detect() {
    Paths paths;
#if defined(__x86_64__)
    __builtin_cpu_init();
    // VBMI and VNNI came together with Ice Lake and Zen 4; the AVX-512 of older processors gains little over AVX2.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni")) {
        paths.add(SimdPath::avx512);
    }
    if (__builtin_cpu_supports("avx2")) paths.add(SimdPath::avx2);
#elif defined(__aarch64__)
    paths.add(SimdPath::neon);
#endif
    paths.add(SimdPath::plain);
    return paths;
}

const Paths& paths() {
    static const Paths found = detect();
    return found;
}

std::atomic<SimdPath>& chosen() {
    static std::atomic<SimdPath> path{paths().list[0]};
    return path;
}

}  // namespace

std::span<const SimdPath> usable_paths() { return {paths().list.data(), paths().count}; }

SimdPath current_path() { return chosen().load(std::memory_order_relaxed); }

bool set_path(SimdPath path) {
    const auto usable = usable_paths();
    if (std::find(usable.begin(), usable.end(), path) == usable.end()) return false;
    chosen().store(path, std::memory_order_relaxed);
    return true;
}

const char* path_name(SimdPath path) {
    switch (path) {
        case SimdPath::avx512:
            return "avx512";
        case SimdPath::avx2:
            return "avx2";
        case SimdPath::neon:
            return "neon";
        case SimdPath::plain:
            break;
    }
    return "plain";
}

}  // namespace screen
