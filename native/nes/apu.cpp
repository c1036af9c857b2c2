#include "nes/apu.h"

namespace nes {

namespace {

constexpr std::uint8_t kLengths[32] = {10, 254, 20, 2,  40, 4,  80, 6,  160, 8,  60, 10, 14, 12, 26, 14,
                                       12, 16,  24, 18, 48, 20, 96, 22, 192, 24, 72, 26, 16, 28, 32, 30};

constexpr std::uint16_t kSampleBits[16] = {428, 380, 340, 320, 286, 254, 226, 214, 190, 160, 142, 128, 106, 84, 72, 54};

// Cycles from one step of the frame counter to the next. The last entry of each leads back to the first.
constexpr Cycle kFourSteps[4] = {7457, 7456, 7458, 7458};  // the fourth raises the interrupt, a cycle early
constexpr Cycle kFiveSteps[5] = {7457, 7456, 7458, 7458, 7452};
constexpr Cycle kFirstFetch = 1;  // after $4015 has started a sample
constexpr Cycle kAfterFour = 1;
constexpr Cycle kAfterFive = 1;

}  // namespace

void Apu::power_on() {
    *this = Apu{};
    step_at = kFourSteps[0];
}

void Apu::reset(Cycle now) {
    enabled = 0;
    for (auto& counter : length) counter = 0;
    sample_left = 0;
    frame_irq = sample_irq = 0;
    irq_until = 0;
    step = 0;
    step_at = now + (five_steps ? kFiveSteps[0] : kFourSteps[0]);
}

Cycle Apu::irq_at() const {
    Cycle at = step_at;
    for (int later = step + 1; later < 4; ++later) at += kFourSteps[later];
    return at - 1;
}

void Apu::take_steps(Cycle now) {
    while (now >= step_at) {
        const bool last = step == (five_steps ? 4 : 3);
        if (step == 1 || last) count_lengths();
        if (last) {
            if (!five_steps && !irq_off) {
                frame_irq = 1;
                irq_until = step_at + 1;
            }
            step = 0;
            step_at += five_steps ? kAfterFive + kFiveSteps[0] : kAfterFour + kFourSteps[0];
        } else {
            ++step;
            step_at += five_steps ? kFiveSteps[step] : kFourSteps[step];
        }
    }
    // The interrupt is raised in three cycles running, beginning a cycle before the step that counts the lengths.
    if (!five_steps && !irq_off && step == 3 && now >= step_at - 1) {
        frame_irq = 1;
        irq_until = step_at + 1;
    }
}

void Apu::count_lengths() {
    for (int channel = 0; channel < 4; ++channel) {
        if (length[channel] != 0 && !(halted >> channel & 1)) --length[channel];
    }
}

Cycle Apu::sample_period() const { return Cycle{8} * kSampleBits[sample_control & 0x0F]; }

std::uint8_t Apu::read_status(Cycle now) {
    catch_up(now);
    std::uint8_t status = 0;
    for (int channel = 0; channel < 4; ++channel) {
        if (length[channel] != 0) status |= static_cast<std::uint8_t>(1 << channel);
    }
    if (sample_left != 0) status |= 0x10;
    if (frame_irq) status |= 0x40;
    if (sample_irq) status |= 0x80;
    // Whoever reads while it is being raised clears it in vain.
    if (now > irq_until) frame_irq = 0;
    return status;
}

void Apu::restart_sample() {
    sample_address = static_cast<std::uint16_t>(0xC000 | sample_start << 6);
    sample_left = static_cast<std::uint16_t>(sample_length << 4 | 1);
}

void Apu::fetched(Cycle now) {
    // Bytes are played back to back whether there are any or not, so the next one begins a whole number of them later.
    const Cycle period = sample_period();
    if (buffer_free <= now) buffer_free += ((now - buffer_free) / period + 1) * period;
    sample_at = buffer_free;
    sample_address = static_cast<std::uint16_t>((sample_address + 1) | 0x8000);
    if (--sample_left == 0) {
        if (sample_control & 0x40) {
            restart_sample();
        } else if (sample_control & 0x80) {
            sample_irq = 1;
        }
    }
}

void Apu::write(std::uint16_t address, std::uint8_t value, Cycle now) {
    catch_up(now);
    switch (address) {
        case 0x4000:
        case 0x4004:
        case 0x4008:
        case 0x400C: {
            const int channel = (address >> 2) & 3;
            const std::uint8_t bit = channel == 2 ? 0x80 : 0x20;
            const auto mine = static_cast<std::uint8_t>(1 << channel);
            halted = static_cast<std::uint8_t>((value & bit) ? halted | mine : halted & ~mine);
            return;
        }
        case 0x4003:
        case 0x4007:
        case 0x400B:
        case 0x400F: {
            const int channel = (address >> 2) & 3;
            if (enabled >> channel & 1) length[channel] = kLengths[value >> 3];
            return;
        }
        case 0x4010:
            sample_control = value;
            if (!(value & 0x80)) sample_irq = 0;
            return;
        case 0x4012:
            sample_start = value;
            return;
        case 0x4013:
            sample_length = value;
            return;
        case 0x4015:
            enabled = value & 0x1F;
            for (int channel = 0; channel < 4; ++channel) {
                if (!(value >> channel & 1)) length[channel] = 0;
            }
            sample_irq = 0;
            if (!(value & 0x10)) {
                sample_left = 0;
            } else if (sample_left == 0) {
                restart_sample();
                sample_at = buffer_free > now ? buffer_free : now + kFirstFetch;
            }
            return;
        case 0x4017:
            write_frame_counter(value, now);
            return;
        default:
            return;
    }
}

void Apu::write_frame_counter(std::uint8_t value, Cycle now) {
    five_steps = value >> 7;
    irq_off = value >> 6 & 1;
    if (irq_off) frame_irq = 0;
    irq_until = 0;
    step = 0;
    if (five_steps) count_lengths();
    // The counter restarts three or four cycles later, on the next even one.
    const Cycle restart = now + ((now & 1) ? 3 : 4);
    step_at = restart + (five_steps ? kFiveSteps[0] : kFourSteps[0]);
}

}  // namespace nes
