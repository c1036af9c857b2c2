#include "nes/bus.h"

#include <algorithm>
#include <cstring>

namespace nes {

namespace {

constexpr Cycle kDmaCycles = 513;  // and one more if $4014 is written in an odd cycle

Cycle copy_sprites(Console& console, const Machine& machine, std::uint8_t page, Cycle at) {
    Ppu& ppu = console.ppu;
    ppu.before_dma(dot_at(at), machine);
    const auto from = static_cast<std::uint16_t>(page << 8);
    const Cycle halted = kDmaCycles + (at & 1);
    if (from < 0x2000 && ppu.oam_address == 0) {
        std::memcpy(ppu.oam, console.ram + (from & 0x7FF), sizeof ppu.oam);
        return halted;
    }
    for (int index = 0; index < 256; ++index) {
        const auto address = static_cast<std::uint16_t>(from + index);
        std::uint8_t value;
        if (address < 0x2000) {
            value = console.ram[address & 0x7FF];
        } else if (address & 0x8000) {
            value = Nrom::read_program(console.board, machine.cartridge->program.data(), address);
        } else {
            value = read_io(console, machine, address, at + 2 + 2 * index, page);
        }
        const auto target = static_cast<std::uint8_t>(ppu.oam_address + index);
        ppu.oam[target] = value;
    }
    return halted;
}

}  // namespace

std::uint8_t read_io(Console& console, const Machine& machine, std::uint16_t address, Cycle at, std::uint8_t open) {
    if (address < 0x4000) {
        const Dot dot = dot_at(at);
        const int port = address & 7;
        console.pass_vblank(dot, machine);
        const std::uint8_t value = console.ppu.read(port, dot, machine);
        // Read within two dots of the flag's setting, $2002 also takes back the NMI.
        if (port == 2 && console.cpu.nmi_waiting && dot - console.ppu.vblank_dot <= 2) {
            console.cpu.nmi_waiting = 0;
            console.schedule();
        }
        return value;
    }
    switch (address) {
        case 0x4015: {
            const bool irq_before = console.apu.irq();
            const std::uint8_t status = console.apu.read_status(at);
            if (!irq_before && console.apu.irq()) console.cpu.irq_cycle = at;
            console.schedule();
            return static_cast<std::uint8_t>(status | (open & 0x20));
        }
        case 0x4016:
        case 0x4017:
            return static_cast<std::uint8_t>((open & 0xE0) | console.controllers.read(address & 1));
        default:
            return open;
    }
}

Cycle write_io(Console& console, const Machine& machine, std::uint16_t address, std::uint8_t value, Cycle at) {
    if (address < 0x4000) {
        const Dot dot = dot_at(at);
        console.pass_vblank(dot, machine);
        Ppu& ppu = console.ppu;
        const bool nmi_was_on = ppu.control & kNmiOn;
        ppu.write(address & 7, value, dot, machine);
        if ((address & 7) == 0) {
            const bool nmi_is_on = value & kNmiOn;
            // The line is looked at when the cycle is over: a flag that is cleared with its last dot raises nothing.
            if (nmi_is_on && !nmi_was_on && (ppu.flags & kVblank) && dot <= ppu.prerender_dot()) {
                console.cpu.nmi_waiting = 1;
                console.cpu.nmi_cycle = at;
            } else if (!nmi_is_on && console.cpu.nmi_waiting && dot - ppu.vblank_dot <= 2) {
                console.cpu.nmi_waiting = 0;
            }
        }
        if ((address & 7) < 2) console.schedule();
        return 0;
    }
    if (address == 0x4014) return copy_sprites(console, machine, value, at);
    if (address == 0x4016) {
        console.controllers.write(value);
    } else if (address < 0x4018) {
        const bool irq_before = console.apu.irq();
        console.apu.write(address, value, at);
        if (!irq_before && console.apu.irq()) console.cpu.irq_cycle = at;
        if (address >= 0x4010) console.schedule();
    }
    return 0;
}

Cycle wait_in_loop(Console& console, const Machine& machine, const IdleLoop& loop, Cycle clock, Cycle last) {
    // At least one round is left to be run before the event, so that everything near it is done instruction by
    // instruction.
    Cycle rounds = (console.cpu.next_event - 1 - clock) / loop.period - 1;
    if (loop.status_read_at >= 0) {
        // Reading the flag has cleared it: the next round sees another status than this one did.
        if (console.ppu.bus & kVblank) return clock;
        const Dot read = dot_at(last + loop.status_read_at);
        const Dot change = console.ppu.flags_change(read, machine);
        const Dot next_read = dot_at(clock + loop.status_read_at);
        if (next_read > change) return clock;
        rounds = std::min(rounds, (change - next_read) / (kDotsPerCycle * loop.period) + 1);
    }
    return rounds > 0 ? clock + rounds * loop.period : clock;
}

}  // namespace nes
