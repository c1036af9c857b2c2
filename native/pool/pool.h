// Many consoles, one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <sys/types.h>

#include "pool/code_library.h"
#include "pool/lane.h"
#include "pool/memory.h"
#include "pool/workers.h"

namespace pool {

struct Options {
    int lanes = 1;
    int threads = 1;
    int skip = 4;
    PictureKind kind = PictureKind::none;
    int height = 84;
    int width = 84;
    int stack = 4;
    bool max_of_two = false;
    std::vector<std::uint16_t> watched;
};

// The caller's memory for one step. Sizes follow from the pool; null: not wanted.
struct StepBuffers {
    const std::uint8_t* buttons = nullptr;  // [lanes][pads]
    int pads = 1;
    std::uint8_t* frames = nullptr;         // [lanes][stack][picture]
    std::uint8_t* ram = nullptr;            // [lanes][watched]
    const std::int32_t* restart = nullptr;  // [lanes]: an entry of the table of starts, or -1
};

// Every function is one call at a time; several threads may call. What each lane does depends on nothing but its own
// state and buttons, so neither the number of threads nor their luck changes a byte.
//
// Functions throw std::invalid_argument with one sentence, before any lane is touched.
class Pool {
  public:
    Pool(std::shared_ptr<const nes::Cartridge> cartridge, std::shared_ptr<const CodeLibrary> code, Options options);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    const Rules& rules() const { return rules_; }
    int lanes() const { return static_cast<int>(lanes_.size()); }
    int threads() const { return threads_; }
    bool recompiled() const { return rules_.code != nullptr; }
    int starts() const { return starts_.count; }

    // To be called before anything else in the child of a fork, by one thread; does nothing elsewhere.
    void survive_fork();

    // Restarts the lanes that ask for it, then runs every lane for `skip` frames.
    void step(const StepBuffers& buffers);
    // Writes what the last step would have written.
    void observe(std::uint8_t* frames, std::uint8_t* ram);

    // Keeps a copy of `count` states to restart from; `frames` are their histories, or null: black.
    void set_starts(const std::uint8_t* states, const std::uint8_t* frames, int count);
    void load_starts(std::span<const std::int32_t> lanes, std::span<const std::int32_t> starts);

    void save_states(std::span<const std::int32_t> lanes, std::uint8_t* out);
    // Histories become black.
    void load_states(std::span<const std::int32_t> lanes, const std::uint8_t* states);
    void save_frames(std::span<const std::int32_t> lanes, std::uint8_t* out);
    void load_frames(std::span<const std::int32_t> lanes, const std::uint8_t* frames);

  private:
    struct Starts {
        int count = 0;
        Memory states;
        Memory frames;  // empty: black
    };

    void check_lanes(std::span<const std::int32_t> lanes) const;
    void check_states(const std::uint8_t* states, int count) const;
    void check_starts(std::span<const std::int32_t> starts, std::int32_t least) const;
    void restart(Lane& lane, std::int32_t start);
    void step_lane(int number, int worker, const StepBuffers& buffers);

    std::shared_ptr<const nes::Cartridge> cartridge_;
    std::shared_ptr<const CodeLibrary> code_;
    Rules rules_;
    int threads_;
    Memory states_;
    Memory histories_;
    std::vector<Lane> lanes_;
    std::vector<std::unique_ptr<Canvas>> canvases_;  // one a worker
    Starts starts_;
    pid_t process_;
    mutable std::unique_ptr<std::mutex> mutex_;
    std::unique_ptr<Workers> workers_;
};

}  // namespace pool
