#include "nes/state.h"

namespace nes {

namespace {

constexpr Cycle kLongestLife = Cycle{1} << 55;  // six centuries: leaves room to multiply by three and to add
constexpr Dot kFrameDots = Dot{kLines} * kDotsPerLine;
constexpr Cycle kFrameCycles = kFrameDots / kDotsPerCycle;
constexpr Dot kVblankDots = Dot{kLines - kVblankLine} * kDotsPerLine - 1;  // from vblank to line 0
constexpr Cycle kLongestSample = 2 * 8 * 428;                              // two bytes of the slowest DMC rate
constexpr Cycle kCounterStep = 7500;                                       // more than any of the frame counter's steps
constexpr Cycle kOverrun = 1024;  // more than the longest instruction, an OAM DMA and an interrupt together
constexpr int kLastStreamLine = kVblankLine;
constexpr int kLastStreamTile = 40;
constexpr int kMostSampleBytes = 0xFF1;
constexpr int kAllForeseen = kHitForeseen | kOverflowForeseen;

bool within(std::int64_t value, std::int64_t least, std::int64_t most) { return least <= value && value <= most; }

template <class... Bytes>
bool are_flags(Bytes... bytes) {
    return ((bytes <= 1) && ...);
}

bool plausible_time(const Console& console) {
    const Cpu& cpu = console.cpu;
    const Ppu& ppu = console.ppu;
    if (!within(cpu.clock, 0, kLongestLife) || !within(ppu.vblank_dot, -kFrameDots, kDotsPerCycle * kLongestLife)) {
        return false;
    }
    const Dot lost = ppu.next_vblank == ppu.vblank_dot + kFrameDots - 1 ? 1 : 0;
    return ppu.next_vblank == ppu.vblank_dot + kFrameDots - lost &&
           ppu.line0_dot == ppu.vblank_dot + kVblankDots - lost &&
           within(ppu.synced, ppu.vblank_dot, ppu.next_vblank) &&
           within(cpu.clock * kDotsPerCycle, ppu.vblank_dot - kOverrun, ppu.next_vblank + kOverrun) &&
           within(cpu.next_event, 0, ppu.next_vblank / kDotsPerCycle + 1);
}

bool plausible_picture_chip(const Ppu& ppu) {
    for (const std::uint8_t colour : ppu.palette) {
        if (colour > 0x3F) return false;
    }
    return within(ppu.stream_line, -1, kLastStreamLine) && ppu.stream_tile <= kLastStreamTile && ppu.fine_x <= 7 &&
           ppu.v <= 0x7FFF && ppu.t <= 0x7FFF && ppu.stream <= 0x7FFF && ppu.foreseen <= kAllForeseen &&
           within(ppu.data_read, 0, kDotsPerCycle * kLongestLife) &&
           are_flags(ppu.second_write, ppu.cleared, ppu.unset_vblank, ppu.odd);
}

bool plausible_sound_chip(const Apu& apu, Cycle now) {
    const bool sample_in_time =
        apu.sample_left == 0 || within(apu.sample_at, now - kFrameCycles - kOverrun, now + kLongestSample);
    return within(apu.step_at, now - kFrameCycles - kOverrun, now + kCounterStep) && sample_in_time &&
           within(apu.sample_at, 0, now + kLongestSample) && within(apu.buffer_free, 0, now + kLongestSample) &&
           apu.step <= (apu.five_steps ? 4 : 3) && apu.sample_left <= kMostSampleBytes && apu.enabled <= 0x1F &&
           apu.halted <= 0x0F && are_flags(apu.five_steps, apu.irq_off, apu.frame_irq, apu.sample_irq);
}

}  // namespace

bool plausible(const Console& console) {
    const Cpu& cpu = console.cpu;
    return plausible_time(console) && plausible_picture_chip(console.ppu) &&
           plausible_sound_chip(console.apu, cpu.clock) && console.controllers.strobe <= 1 &&
           are_flags(cpu.nmi_waiting, cpu.irq_off_at_poll, cpu.jammed, cpu.frame_over);
}

}  // namespace nes
