// The eight ports of the picture chip, as the CPU sees them.
#include <algorithm>

#include "nes/ppu.h"

namespace nes {

namespace {

constexpr int kSkipDot = 338;  // of the pre-render line: whoever renders then loses a dot of an odd frame

enum Port { kControlPort, kMaskPort, kStatusPort, kOamAddressPort, kOamPort, kScrollPort, kAddressPort, kDataPort };

// What is foreseen even after a write to a port: where the background scrolls is nothing to the count of sprites.
int survives_write(int port, int changed) {
    switch (port) {
        case kControlPort:
            return (changed & kTallSprites) ? 0 : kOverflowForeseen;
        case kScrollPort:
        case kAddressPort:
        case kDataPort:
            return kOverflowForeseen;
        default:
            return 0;
    }
}

}  // namespace

std::uint8_t Ppu::read(int port, Dot at, const Machine& machine) {
    switch (port) {
        case kStatusPort:
            bus = static_cast<std::uint8_t>(read_status(at, machine) | (bus & 0x1F));
            break;
        case kOamPort:
            before_change(at, machine, kHitForeseen | kOverflowForeseen);
            bus = oam[oam_address];
            if ((oam_address & 3) == 2) bus &= kAttributeBits;
            break;
        case kDataPort:
            // Read in two cycles running, it notices one.
            if (at - data_read != kDotsPerCycle) {
                before_change(at, machine, kOverflowForeseen);
                bus = read_data(at, machine);
            }
            data_read = at;
            break;
        default:
            break;
    }
    return bus;
}

void Ppu::write(int port, std::uint8_t value, Dot at, const Machine& machine) {
    bus = value;
    before_change(at, machine, survives_write(port, control ^ value));
    switch (port) {
        case kControlPort:
            write_control(value, at, machine);
            break;
        case kMaskPort:
            write_mask(value, at);
            break;
        case kOamAddressPort:
            oam_address = value;
            break;
        case kOamPort:
            write_oam(value, at);
            break;
        case kScrollPort:
            write_scroll(value);
            break;
        case kAddressPort:
            write_address(value, at, machine);
            break;
        case kDataPort:
            write_data(value, at, machine);
            break;
        default:
            break;
    }
}

std::uint8_t Ppu::read_status(Dot at, const Machine& machine) {
    settle(at, machine);
    const std::uint8_t status = flags;
    flags &= static_cast<std::uint8_t>(~kVblank);
    second_write = 0;
    if (at == next_vblank) unset_vblank = 1;
    return status;
}

void Ppu::write_control(std::uint8_t value, Dot at, const Machine& machine) {
    const std::uint8_t before = control;
    if ((before ^ value) & kBackPatterns) draw_fetched_tiles(at, machine);
    control = value;
    if ((before ^ value) & kBackPatterns) draw_torn_tile(at, v, before, machine);
    t = static_cast<std::uint16_t>((t & ~0x0C00) | (value & 3) << 10);
}

void Ppu::write_mask(std::uint8_t value, Dot at) {
    const bool before = rendering();
    mask = value;
    if (before == rendering()) return;
    if (at <= prerender_dot() + kSkipDot) set_lengths();
    if (rendering()) restart_stream(at);
}

void Ppu::write_oam(std::uint8_t value, Dot at) {
    if (working_at(at)) {
        oam_address = static_cast<std::uint8_t>(oam_address + 4);
        return;
    }
    oam[oam_address++] = value;
}

void Ppu::write_scroll(std::uint8_t value) {
    if (!second_write) {
        t = static_cast<std::uint16_t>((t & ~0x001F) | value >> 3);
        fine_x = value & 7;
    } else {
        t = static_cast<std::uint16_t>((t & ~0x73E0) | (value & 7) << 12 | (value & 0xF8) << 2);
    }
    second_write ^= 1;
}

void Ppu::write_address(std::uint8_t value, Dot at, const Machine& machine) {
    if (!second_write) {
        t = static_cast<std::uint16_t>((t & 0x00FF) | (value & 0x3F) << 8);
    } else {
        t = static_cast<std::uint16_t>((t & 0x7F00) | value);
        // It takes three dots to arrive; the CPU cannot do anything else before.
        const Dot arrives = std::min(at + 3, next_vblank);
        before_change(arrives, machine, kOverflowForeseen);
        move_stream(t, arrives, machine);
    }
    second_write ^= 1;
}

// What is fetched from here on follows from another address.
void Ppu::move_stream(std::uint16_t address, Dot at, const Machine& machine) {
    const std::uint16_t before = v;
    draw_fetched_tiles(at, machine);
    v = address;
    draw_torn_tile(at, before, control, machine);
    if (working_at(at)) restart_stream(at);
}

// While the chip renders, the address is also its scroll: an access moves it right and down at once.
void Ppu::step_address(Dot at, const Machine& machine) {
    if (working_at(at)) {
        move_stream(step_lines(next_tile(v), 1), at, machine);
    } else {
        v = static_cast<std::uint16_t>((v + ((control & kDownwards) ? 32 : 1)) & 0x7FFF);
    }
}

std::uint8_t Ppu::peek(std::uint16_t address, const Machine& machine) const {
    address &= 0x3FFF;
    if (address < 0x2000) return machine.patterns()[address];
    if (address < 0x3F00) return vram[vram_index(address, machine.cartridge->mirroring)];
    return palette[palette_index(address)];
}

std::uint8_t Ppu::read_data(Dot at, const Machine& machine) {
    const auto address = static_cast<std::uint16_t>(v & 0x3FFF);
    std::uint8_t value = read_buffer;
    if (address >= 0x3F00) {
        // Colours are six bits wide; the buffer gets the nametable that lies beneath.
        const std::uint8_t colour = palette[palette_index(address)];
        value = static_cast<std::uint8_t>((bus & 0xC0) | (colour & ((mask & kGreyscale) ? 0x30 : 0x3F)));
        read_buffer = vram[vram_index(address, machine.cartridge->mirroring)];
    } else {
        read_buffer = peek(address, machine);
    }
    step_address(at, machine);
    return value;
}

void Ppu::write_data(std::uint8_t value, Dot at, const Machine& machine) {
    const auto address = static_cast<std::uint16_t>(v & 0x3FFF);
    // First the address moves: tiles that are fetched already do not see what is stored.
    step_address(at, machine);
    // The low half of the address goes over the same pins: while the chip fetches, that is what is stored.
    if (working_at(at)) value = static_cast<std::uint8_t>(address);
    if (address >= 0x3F00) {
        const int index = palette_index(address);
        palette[index] = value & 0x3F;
        if ((index & 3) == 0) palette[index | 0x10] = value & 0x3F;
    } else if (address >= 0x2000) {
        vram[vram_index(address, machine.cartridge->mirroring)] = value;
    } else if (machine.pattern_ram) {
        machine.pattern_ram[address] = value;
        if (machine.drawing) machine.drawing->decoded = false;
    }
}

}  // namespace nes
