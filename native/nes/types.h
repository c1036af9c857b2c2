// The numbers a console counts in.
#pragma once

#include <cstdint>

namespace nes {

using Cycle = std::int64_t;  // CPU cycles since power-on
using Dot = std::int64_t;    // PPU dots since power-on: three to a cycle

constexpr Dot kDotsPerCycle = 3;
constexpr int kDotsPerLine = 341;
constexpr int kLines = 262;
constexpr int kVisibleLines = 240;
constexpr int kVblankLine = 241;
constexpr int kPrerenderLine = 261;
constexpr int kScreenWidth = 256;
constexpr int kScreenHeight = 240;

constexpr Cycle kNever = INT64_MAX / 8;  // far enough to be never, near enough to multiply by three

}  // namespace nes
