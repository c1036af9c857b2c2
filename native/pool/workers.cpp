#include "pool/workers.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <string>
#include <system_error>

#include <pthread.h>

namespace pool {

namespace {

constexpr int kSpins = 4000;       // some tens of microseconds, before a thread goes to sleep
constexpr int kChunksAThread = 8;  // chunks shrink towards the end, so that no thread keeps the others waiting
constexpr int kLargestChunk = 16;

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Python's signals belong to its main thread, whose system calls they interrupt.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_;
};

// Waits until `value` is no longer `old`.
template <class Value>
void wait_for_change(const std::atomic<Value>& value, Value old) {
    for (int spin = 0; spin < kSpins; ++spin) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

Workers::Workers(int threads) : threads_(threads) {
    const SignalsBlocked blocked;
    helpers_.reserve(static_cast<std::size_t>(threads - 1));
    try {
        for (int worker = 1; worker < threads; ++worker) helpers_.emplace_back([this, worker] { help(worker); });
    } catch (const std::system_error& error) {
        const std::string started = std::to_string(helpers_.size() + 1);
        stop();
        throw std::runtime_error("the system would not start " + std::to_string(threads) + " threads, only " + started +
                                 " (" + error.code().message() + "); ask for fewer");
    }
}

Workers::~Workers() { stop(); }

void Workers::stop() {
    stopping_.store(true, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
}

void Workers::run(int count, Task task, void* context) {
    if (helpers_.empty()) {
        for (int number = 0; number < count; ++number) task(context, number, 0);
        return;
    }
    if (count == 0) return;
    task_ = task;
    context_ = context;
    unfinished_.store(count, std::memory_order_relaxed);
    const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
    left_.store(std::uint64_t{round} << 32 | static_cast<std::uint32_t>(count), std::memory_order_release);
    round_.store(round, std::memory_order_release);
    round_.notify_all();
    drain(0);
    for (int left = unfinished_.load(std::memory_order_acquire); left != 0;
         left = unfinished_.load(std::memory_order_acquire)) {
        wait_for_change(unfinished_, left);
    }
}

void Workers::help(int worker) {
    std::uint32_t round = 0;
    while (true) {
        wait_for_change(round_, round);
        round = round_.load(std::memory_order_acquire);
        if (stopping_.load(std::memory_order_relaxed)) return;
        drain(worker);
    }
}

void Workers::drain(int worker) {
    std::uint64_t left = left_.load(std::memory_order_acquire);
    while (true) {
        const int count = static_cast<int>(left & 0xFFFFFFFF);
        if (count == 0) return;
        const int taken = std::clamp(count / (threads_ * kChunksAThread), 1, kLargestChunk);
        if (!left_.compare_exchange_weak(left, left - static_cast<std::uint64_t>(taken), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
            continue;
        }
        for (int number = count - taken; number < count; ++number) task_(context_, number, worker);
        if (unfinished_.fetch_sub(taken, std::memory_order_acq_rel) == taken) unfinished_.notify_all();
        left = left_.load(std::memory_order_acquire);
    }
}

}  // namespace pool
