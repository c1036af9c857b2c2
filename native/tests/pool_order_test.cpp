// Any number of threads gives the same bytes, in any order they happen to work in; and a pool survives a fork.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pool/pool.h"
#include "tests/little_game.h"

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
    if (right) return;
    ++failures;
    if (failures <= 20) std::printf("FAILED: %s\n", what.c_str());
}

using tests::Bytes;

std::shared_ptr<const nes::Cartridge> game(bool tiles_are_ram) {
    return std::make_shared<const nes::Cartridge>(nes::Cartridge::parse(tests::little_game(tiles_are_ram)));
}

void each_number_once() {
    for (const int threads : {1, 2, 3, 8}) {
        pool::Workers workers(threads);
        std::vector<std::atomic<int>> done(1000);
        const auto task = [](void* context, int number, int) {
            ++(*static_cast<std::vector<std::atomic<int>>*>(context))[static_cast<std::size_t>(number)];
        };
        std::vector<int> wanted(done.size(), 0);
        for (int round = 0; round < 300; ++round) {
            const int count = round * 37 % 1001;
            workers.run(count, task, &done);
            for (int number = 0; number < count; ++number) ++wanted[static_cast<std::size_t>(number)];
        }
        for (std::size_t number = 0; number < done.size(); ++number) {
            expect(done[number] == wanted[number], std::to_string(threads) + " threads did a number too often or not");
        }
    }
}

struct Played {
    Bytes frames, ram, states;
    bool operator==(const Played&) const = default;
};

Played play(pool::Pool& lanes, int steps, std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto count = static_cast<std::size_t>(lanes.lanes());
    Played played{Bytes(count * lanes.rules().history_bytes()), Bytes(count * lanes.rules().watched.size()),
                  Bytes(count * lanes.rules().state_bytes())};
    std::vector<std::int32_t> all(count);
    for (std::size_t lane = 0; lane < count; ++lane) all[lane] = static_cast<std::int32_t>(lane);
    Bytes buttons(2 * count);
    std::vector<std::int32_t> restart(count);
    for (int step = 0; step < steps; ++step) {
        for (std::uint8_t& held : buttons) held = static_cast<std::uint8_t>(random());
        for (std::int32_t& start : restart) {
            start = lanes.starts() && random() % 4 == 0 ? static_cast<std::int32_t>(random() % 2) : -1;
        }
        lanes.step({buttons.data(), 2, played.frames.data(), played.ram.data(), restart.data()});
        if (step == steps / 3) {
            lanes.save_states(all, played.states.data());
            lanes.set_starts(played.states.data(), played.frames.data(), 2);
        }
    }
    lanes.save_states(all, played.states.data());
    return played;
}

pool::Options options(int threads, pool::PictureKind kind, bool max_of_two) {
    pool::Options chosen;
    chosen.lanes = 7;
    chosen.threads = threads;
    chosen.kind = kind;
    chosen.max_of_two = max_of_two;
    chosen.watched = {0x10, 0x12, 0x13, 0x0820};
    return chosen;
}

void any_number_of_threads() {
    using pool::PictureKind;
    for (const bool tiles_are_ram : {false, true}) {
        for (const auto kind : {PictureKind::none, PictureKind::grey, PictureKind::rgb, PictureKind::indices}) {
            const bool max_of_two = tiles_are_ram && kind != PictureKind::indices;
            pool::Pool alone(game(tiles_are_ram), nullptr, options(1, kind, max_of_two));
            const Played wanted = play(alone, 12, 3);
            for (const int threads : {2, 5, 16}) {
                pool::Pool many(game(tiles_are_ram), nullptr, options(threads, kind, max_of_two));
                expect(play(many, 12, 3) == wanted, std::to_string(threads) + " threads wrote other bytes than one");
            }
        }
    }
}

void two_callers_take_turns() {
    pool::Pool lanes(game(false), nullptr, options(2, pool::PictureKind::grey, false));
    const Bytes buttons(7, 0);
    const auto call = [&] {
        for (int step = 0; step < 20; ++step) lanes.step({buttons.data(), 1, nullptr, nullptr, nullptr});
    };
    std::thread other(call);
    call();
    other.join();
    pool::Pool calm(game(false), nullptr, options(1, pool::PictureKind::grey, false));
    for (int step = 0; step < 40; ++step) calm.step({buttons.data(), 1, nullptr, nullptr, nullptr});
    Bytes first(calm.rules().state_bytes()), second(first.size());
    const std::int32_t lane = 6;
    lanes.save_states({&lane, 1}, first.data());
    calm.save_states({&lane, 1}, second.data());
    expect(first == second, "two callers at once lost a step");
}

void lives_on_in_a_child() {
    auto lanes = std::make_unique<pool::Pool>(game(false), nullptr, options(3, pool::PictureKind::grey, false));
    play(*lanes, 5, 1);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);  // a child that hangs must not hang the test
        lanes->survive_fork();
        const Played played = play(*lanes, 5, 2);
        lanes.reset();
        _exit(played.ram.empty() ? 1 : 0);
    }
    const Played here = play(*lanes, 5, 2);
    int status = -1;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a pool did not live on in the child of a fork");
    expect(!here.ram.empty(), "a pool did not live on in the parent of a fork");
}

void refuses_before_it_touches() {
    pool::Pool lanes(game(false), nullptr, options(1, pool::PictureKind::none, false));
    const auto refused = [](const auto& call) {
        try {
            call();
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    const Bytes buttons(7, 0);
    const std::vector<std::int32_t> restart = {-1, -1, -1, -1, -1, -1, 0};
    Bytes before(lanes.rules().state_bytes()), after(before.size());
    const std::int32_t first = 0;
    const std::int32_t outside = 7;
    lanes.save_states({&first, 1}, before.data());
    expect(refused([&] { lanes.step({buttons.data(), 1, nullptr, nullptr, restart.data()}); }),
           "no start, yet restarted");
    lanes.save_states({&first, 1}, after.data());
    expect(before == after, "a refused step moved a lane");
    expect(refused([&] { lanes.save_states({&outside, 1}, after.data()); }), "lane 7 of 7 was saved");
    expect(refused([&] { lanes.load_states({&first, 1}, Bytes(after.size(), 0xA5).data()); }), "nonsense was loaded");
    expect(refused([&] { lanes.set_starts(Bytes(after.size(), 0xA5).data(), nullptr, 1); }), "nonsense became a start");
}

}  // namespace

int main() {
    each_number_once();
    any_number_of_threads();
    two_callers_take_turns();
    lives_on_in_a_child();
    refuses_before_it_touches();
    if (failures) std::printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
