#include "pool/pool.h"

#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "nes/state.h"

namespace pool {

namespace {

constexpr int kMostLanes = 1 << 16;
constexpr int kMostThreads = 256;
constexpr int kMostFrames = 256;
constexpr int kMostPictures = 64;
constexpr std::uint16_t kRamEnd = 0x2000;
constexpr std::uint16_t kRamMask = 0x07FF;

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

void check_number(const char* name, int value, int least, int most) {
    if (value >= least && value <= most) return;
    refuse(std::string(name) + " must be " + std::to_string(least) + " to " + std::to_string(most) + ", but is " +
           std::to_string(value));
}

Rules checked_rules(const nes::Cartridge& cartridge, const CodeLibrary* code, Options& options) {
    check_number("lanes", options.lanes, 1, kMostLanes);
    check_number("threads", options.threads, 1, kMostThreads);
    check_number("skip", options.skip, 1, kMostFrames);
    check_number("stack", options.stack, 1, kMostPictures);
    if (options.max_of_two) {
        if (options.kind == PictureKind::indices) {
            refuse("max_of_two compares brightness, which palette indices do not have; use kind 'grey' or 'rgb'");
        }
        if (options.skip < 2) refuse("max_of_two takes the last two frames of a step, but skip is 1; use 2 or more");
    }
    for (std::uint16_t& address : options.watched) {
        if (address >= kRamEnd) {
            refuse("only RAM can be watched, addresses 0 to 8191, and " + std::to_string(address) + " came");
        }
        address &= kRamMask;
    }
    return {&cartridge,
            code ? &code->code() : nullptr,
            PictureFormat(options.kind, options.height, options.width),
            options.skip,
            options.stack,
            options.max_of_two,
            std::move(options.watched)};
}

}  // namespace

Pool::Pool(std::shared_ptr<const nes::Cartridge> cartridge, std::shared_ptr<const CodeLibrary> code, Options options)
    : cartridge_(std::move(cartridge)),
      code_(std::move(code)),
      rules_(checked_rules(*cartridge_, code_.get(), options)),
      threads_(options.threads),
      process_(getpid()),
      mutex_(std::make_unique<std::mutex>()),
      workers_(std::make_unique<Workers>(options.threads)) {
    const auto count = static_cast<std::size_t>(options.lanes);
    const std::size_t state_stride = whole_cache_lines(rules_.state_bytes());
    const std::size_t history_stride = whole_cache_lines(rules_.history_bytes());
    states_ = Memory(count * state_stride);
    histories_ = Memory(count * history_stride);
    lanes_.reserve(count);
    for (std::size_t lane = 0; lane < count; ++lane) {
        lanes_.emplace_back(rules_, states_.at(lane * state_stride), histories_.at(lane * history_stride));
    }
    for (int worker = 0; worker < threads_; ++worker) {
        canvases_.push_back(std::make_unique<Canvas>(rules_.pictures, cartridge_->patterns_are_ram()));
    }
}

Pool::~Pool() {
    // Threads that stayed behind in the parent process cannot be joined.
    if (getpid() != process_) static_cast<void>(workers_.release());
}

// In the child of a fork the helpers do not exist, and somebody who held the mutex may not either.
void Pool::survive_fork() {
    if (getpid() == process_) return;
    static_cast<void>(workers_.release());
    static_cast<void>(mutex_.release());
    mutex_ = std::make_unique<std::mutex>();
    workers_ = std::make_unique<Workers>(threads_);
    process_ = getpid();
}

void Pool::step(const StepBuffers& buffers) {
    const std::lock_guard lock(*mutex_);
    if (buffers.restart) check_starts({buffers.restart, lanes_.size()}, -1);
    struct Job {
        Pool* pool;
        const StepBuffers* buffers;
    } job{this, &buffers};
    const auto task = [](void* context, int number, int worker) {
        const Job& todo = *static_cast<Job*>(context);
        todo.pool->step_lane(number, worker, *todo.buffers);
    };
    workers_->run(lanes(), task, &job);
}

void Pool::step_lane(int number, int worker, const StepBuffers& buffers) {
    const auto index = static_cast<std::size_t>(number);
    Lane& lane = lanes_[index];
    if (buffers.restart) {
        // Read once and judged again: the array is the caller's, and another of its threads may write to it meanwhile.
        const std::int32_t start = buffers.restart[index];
        if (start >= 0 && start < starts_.count) restart(lane, start);
    }
    const std::uint8_t* buttons = buffers.buttons + index * static_cast<std::size_t>(buffers.pads);
    lane.step(*canvases_[static_cast<std::size_t>(worker)], buttons[0],
              buffers.pads == 2 ? buttons[1] : std::uint8_t{0});
    if (buffers.frames) lane.write_history(buffers.frames + index * rules_.history_bytes());
    if (buffers.ram) lane.write_watched(buffers.ram + index * rules_.watched.size());
}

void Pool::restart(Lane& lane, std::int32_t start) {
    const auto index = static_cast<std::size_t>(start);
    lane.load(starts_.states.at(index * rules_.state_bytes()));
    lane.load_history(starts_.frames ? starts_.frames.at(index * rules_.history_bytes()) : nullptr);
}

void Pool::observe(std::uint8_t* frames, std::uint8_t* ram) {
    const std::lock_guard lock(*mutex_);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        if (frames) lanes_[lane].write_history(frames + lane * rules_.history_bytes());
        if (ram) lanes_[lane].write_watched(ram + lane * rules_.watched.size());
    }
}

void Pool::set_starts(const std::uint8_t* states, const std::uint8_t* frames, int count) {
    const std::lock_guard lock(*mutex_);
    const std::size_t state_bytes = static_cast<std::size_t>(count) * rules_.state_bytes();
    const std::size_t frame_bytes = static_cast<std::size_t>(count) * rules_.history_bytes();
    Starts table{count, Memory(state_bytes), frames ? Memory(frame_bytes) : Memory()};
    std::memcpy(table.states.at(0), states, state_bytes);
    check_states(table.states.at(0), count);  // the copy: nobody else can change that any more
    if (frames) std::memcpy(table.frames.at(0), frames, frame_bytes);
    starts_ = std::move(table);
}

void Pool::load_starts(std::span<const std::int32_t> lanes, std::span<const std::int32_t> starts) {
    const std::lock_guard lock(*mutex_);
    check_lanes(lanes);
    check_starts(starts, 0);
    for (std::size_t entry = 0; entry < lanes.size(); ++entry) {
        restart(lanes_[static_cast<std::size_t>(lanes[entry])], starts[entry]);
    }
}

void Pool::save_states(std::span<const std::int32_t> lanes, std::uint8_t* out) {
    const std::lock_guard lock(*mutex_);
    check_lanes(lanes);
    for (const std::int32_t lane : lanes) {
        lanes_[static_cast<std::size_t>(lane)].save(out);
        out += rules_.state_bytes();
    }
}

void Pool::load_states(std::span<const std::int32_t> lanes, const std::uint8_t* states) {
    const std::lock_guard lock(*mutex_);
    check_lanes(lanes);
    check_states(states, static_cast<int>(lanes.size()));
    for (const std::int32_t lane : lanes) {
        lanes_[static_cast<std::size_t>(lane)].load(states);
        lanes_[static_cast<std::size_t>(lane)].load_history(nullptr);
        states += rules_.state_bytes();
    }
}

void Pool::save_frames(std::span<const std::int32_t> lanes, std::uint8_t* out) {
    const std::lock_guard lock(*mutex_);
    check_lanes(lanes);
    for (const std::int32_t lane : lanes) {
        lanes_[static_cast<std::size_t>(lane)].write_history(out);
        out += rules_.history_bytes();
    }
}

void Pool::load_frames(std::span<const std::int32_t> lanes, const std::uint8_t* frames) {
    const std::lock_guard lock(*mutex_);
    check_lanes(lanes);
    for (const std::int32_t lane : lanes) {
        lanes_[static_cast<std::size_t>(lane)].load_history(frames);
        frames += rules_.history_bytes();
    }
}

void Pool::check_lanes(std::span<const std::int32_t> lanes) const {
    for (const std::int32_t lane : lanes) check_number("a lane", lane, 0, this->lanes() - 1);
}

void Pool::check_starts(std::span<const std::int32_t> starts, std::int32_t least) const {
    for (const std::int32_t start : starts) {
        if (start >= least && start < starts_.count) continue;
        if (starts_.count == 0) refuse("there is no table of starts yet; give one to set_starts first");
        refuse("a start must be " + std::to_string(least) + " to " + std::to_string(starts_.count - 1) +
               ", as set_starts was given " + std::to_string(starts_.count) + ", but is " + std::to_string(start));
    }
}

void Pool::check_states(const std::uint8_t* states, int count) const {
    for (int entry = 0; entry < count; ++entry) {
        nes::Console console;
        std::memcpy(&console, states + static_cast<std::size_t>(entry) * rules_.state_bytes(), sizeof console);
        if (nes::plausible(console)) continue;
        refuse("state " + std::to_string(entry) +
               " is none that this engine has saved; its bytes are damaged or made up");
    }
}

}  // namespace pool
