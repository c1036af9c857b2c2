// What a game can observe of the sound chip: length counters, the frame counter and its interrupt, and the DMC
// channel's reads and interrupt. It makes no sound.
#pragma once

#include <cstdint>

#include "nes/types.h"

namespace nes {

struct Apu {
    Cycle step_at;                 // when the frame counter takes its next step
    Cycle sample_at;               // when the DMC reads its next byte, if any are left
    Cycle irq_until;               // the last cycle in which the frame counter raises its interrupt
    Cycle buffer_free;             // when it begins to play the byte it has read, and could take another
    std::uint16_t sample_address;  // where the next byte comes from
    std::uint16_t sample_left;     // bytes of it still to come
    std::uint8_t sample_start;     // $4012
    std::uint8_t sample_length;    // $4013
    std::uint8_t sample_control;   // $4010: interrupt, loop, rate
    std::uint8_t step;             // the frame counter's next step
    std::uint8_t five_steps;       // 1: the longer sequence, which raises no interrupt
    std::uint8_t irq_off;          // 1: $4017 bit 6
    std::uint8_t frame_irq;        // 1: raised
    std::uint8_t sample_irq;       // 1: raised
    std::uint8_t enabled;          // $4015: a bit a channel
    std::uint8_t halted;           // a bit a channel: its length counter stands still
    std::uint8_t length[4];        // pulse, pulse, triangle, noise
    std::uint8_t unused[6];

    void power_on();
    void reset(Cycle now);

    bool irq() const { return (frame_irq | sample_irq) != 0; }

    // Brings everything but the DMC's reads up to `now`.
    void catch_up(Cycle now) {
        if (now >= step_at - 1) take_steps(now);
    }

    // The next moment at which the chip does something to the CPU by itself.
    Cycle next_event() const {
        Cycle next = kNever;
        if (!five_steps && !irq_off && !frame_irq) next = irq_at();
        if (sample_left != 0 && sample_at < next) next = sample_at;
        return next;
    }

    // $4015
    std::uint8_t read_status(Cycle now);

    // $4000-$4013, $4015, $4017
    void write(std::uint16_t address, std::uint8_t value, Cycle now);

    // The DMC has fetched a byte at `now`.
    void fetched(Cycle now);

    // Cycles between two bytes of the DMC.
    Cycle sample_period() const;

  private:
    Cycle irq_at() const;  // the frame counter's, if nobody prevents it
    void take_steps(Cycle now);
    void count_lengths();
    void restart_sample();
    void write_frame_counter(std::uint8_t value, Cycle now);
};

}  // namespace nes
