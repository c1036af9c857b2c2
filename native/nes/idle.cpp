#include "nes/idle.h"

#include <optional>
#include <string_view>

#include "nes/opcodes.h"

namespace nes {

namespace {

constexpr int kLongestLoop = 6;  // instructions
constexpr int kMostLoops = 255;

enum Register : unsigned { kA = 1, kX = 2, kY = 4 };

// What an instruction of a waiting loop takes from the registers and gives to them.
struct Effect {
    unsigned needs;
    unsigned gives;
};

std::optional<Effect> effect_of(std::string_view name) {
    if (name == "lda") return Effect{0, kA};
    if (name == "ldx") return Effect{0, kX};
    if (name == "ldy") return Effect{0, kY};
    if (name == "and_" || name == "ora" || name == "eor") return Effect{kA, kA};
    if (name == "cmp" || name == "bit") return Effect{kA, 0};
    if (name == "cpx") return Effect{kX, 0};
    if (name == "cpy") return Effect{kY, 0};
    if (name == "nop") return Effect{0, 0};
    return std::nullopt;
}

bool is_branch(Mode mode) { return mode == Mode::Relative; }

class Reader {
  public:
    Reader(std::span<const std::uint8_t, 0x8000> program, std::uint16_t head) : program_(program), head_(head) {}

    std::optional<IdleLoop> read() {
        std::uint32_t pc = head_;
        for (int count = 0; count < kLongestLoop; ++count) {
            if (pc + 3 > 0x10000) return std::nullopt;
            const Opcode& opcode = kOpcodes[byte(pc)];
            const std::string_view name = opcode.name;
            if (is_branch(opcode.mode)) return branch_back(pc, opcode);
            if (name == "jmp" && opcode.mode == Mode::Absolute) {
                if (word(pc + 1) != head_) return std::nullopt;
                return finish(opcode.cycles);
            }
            if (!take(pc, opcode)) return std::nullopt;
            pc += static_cast<std::uint32_t>(instruction_bytes(opcode.mode));
        }
        return std::nullopt;
    }

  private:
    std::span<const std::uint8_t, 0x8000> program_;
    std::uint16_t head_;
    int cycles_ = 0;
    int status_read_at_ = -1;
    unsigned given_ = 0;     // registers this round has set so far
    unsigned changed_ = 0;   // registers the loop sets at all
    unsigned borrowed_ = 0;  // registers used before this round had set them

    std::uint8_t byte(std::uint32_t address) const { return program_[address & 0x7FFF]; }
    std::uint32_t word(std::uint32_t address) const { return byte(address) | byte(address + 1) << 8; }

    std::optional<IdleLoop> finish(int cycles) {
        cycles_ += cycles;
        // A register that is both changed and used before that would make one round differ from the next.
        if (borrowed_ & changed_) return std::nullopt;
        return IdleLoop{head_, static_cast<std::uint8_t>(cycles_), static_cast<std::int8_t>(status_read_at_)};
    }

    std::optional<IdleLoop> branch_back(std::uint32_t pc, const Opcode& opcode) {
        const std::uint32_t next = pc + 2;
        const std::uint32_t target =
            (next + static_cast<std::uint32_t>(static_cast<std::int8_t>(byte(pc + 1)))) & 0xFFFF;
        if (target != head_ || given_ == 0) return std::nullopt;
        const bool crosses = ((next ^ target) & 0xFF00) != 0;
        return finish(opcode.cycles + 1 + (crosses ? 1 : 0));
    }

    bool take(std::uint32_t pc, const Opcode& opcode) {
        const auto effect = effect_of(opcode.name);
        if (!effect) return false;
        if (opcode.mode == Mode::Absolute) {
            const std::uint32_t address = word(pc + 1);
            const bool memory = address < 0x2000 || address >= 0x8000;
            if (!memory && (address != 0x2002 || status_read_at_ >= 0)) return false;
            if (!memory) status_read_at_ = cycles_ + opcode.cycles - 1;
        } else if (opcode.mode != Mode::Zero && opcode.mode != Mode::Immediate && opcode.mode != Mode::Implied) {
            return false;
        }
        borrowed_ |= effect->needs & ~given_;
        given_ |= effect->gives;
        changed_ |= effect->gives;
        if (std::string_view(opcode.name) == "bit") given_ |= 0x80;  // it sets flags to branch on
        cycles_ += opcode.cycles;
        return true;
    }
};

}  // namespace

IdleLoops IdleLoops::find(std::span<const std::uint8_t, 0x8000> program) {
    IdleLoops found;
    found.loops.push_back({});
    for (std::uint32_t head = 0x8000; head < 0x10000; ++head) {
        if (found.loops.size() > kMostLoops) break;
        if (const auto loop = Reader(program, static_cast<std::uint16_t>(head)).read()) {
            found.number[head & 0x7FFF] = static_cast<std::uint8_t>(found.loops.size());
            found.loops.push_back(*loop);
        }
    }
    return found;
}

}  // namespace nes
