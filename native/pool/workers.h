// Threads that share out the numbers 0..count-1 of a job among themselves and the caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace pool {

class Workers {
  public:
    // Called with a number of the job and with who does it: 0 is the calling thread. Must not throw.
    using Task = void (*)(void* context, int number, int worker);

    // `threads` counts the caller: one thread needs no others.
    explicit Workers(int threads);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    int threads() const { return threads_; }

    // Comes back when all numbers are done. One caller at a time.
    void run(int count, Task task, void* context);

  private:
    void help(int worker);
    void drain(int worker);
    void stop();

    // The job. It is written while no number is left to take, and read only by those who have taken one.
    Task task_ = nullptr;
    void* context_ = nullptr;
    const int threads_;

    // The round above, the numbers left to take below: one word, so that a helper that wakes up late can neither take a
    // number twice nor mistake an old job for the new one, and nobody has to wait for it.
    alignas(64) std::atomic<std::uint64_t> left_{0};
    alignas(64) std::atomic<int> unfinished_{0};
    alignas(64) std::atomic<std::uint32_t> round_{0};
    std::atomic<bool> stopping_{false};
    std::vector<std::thread> helpers_;
};

}  // namespace pool
