// Which instructions the drawing and the resize use. Every path gives the same bytes; only the time differs.
#pragma once

#include <cstdint>
#include <span>

namespace screen {

enum class SimdPath : std::uint8_t { plain, avx2, avx512, neon };

// The paths this machine can run, fastest first; `plain` is always the last.
std::span<const SimdPath> usable_paths();

// The path in use: the fastest one until set_path says otherwise.
SimdPath current_path();

// Uses `path` from now on, in all threads. False, and no change, if this machine cannot run it.
bool set_path(SimdPath path);

const char* path_name(SimdPath path);

}  // namespace screen
