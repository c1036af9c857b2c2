#include "fish/crew.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "fish/neighbours.h"

namespace fish {

namespace {

// The threads of a process, kept for the next call. Nobody lets them go when the process ends, for in the child of a
// fork that would be waiting for threads that do not exist.
class Crew {
  public:
    const pid_t process = getpid();

    void run(int count, int threads, pool::Workers::Task task, void* context) {
        const std::lock_guard lock(mutex_);
        if (!workers_ || workers_->threads() != threads) {
            workers_ = nullptr;
            workers_ = std::make_unique<pool::Workers>(threads);
        }
        workers_->run(count, task, context);
    }

  private:
    std::mutex mutex_;
    std::unique_ptr<pool::Workers> workers_;
};

// Without a mutex, which a thread that did not come along into the child of a fork might have held.
Crew& crew() {
    static std::atomic<Crew*> current{nullptr};
    Crew* known = current.load();
    while (!known || known->process != getpid()) {
        auto fresh = std::make_unique<Crew>();
        if (current.compare_exchange_strong(known, fresh.get())) known = fresh.release();
    }
    return *known;
}

}  // namespace

void check_number(const char* name, int value, int least, int most) {
    if (value >= least && value <= most) return;
    throw std::invalid_argument(std::string(name) + " must be " + std::to_string(least) + " to " +
                                std::to_string(most) + ", but is " + std::to_string(value));
}

void check_sizes(int schools, int fish, int threads) {
    check_number("the number of schools", schools, 0, kMostSchools);
    check_number("the number of fish in a school", fish, 0, kMostFish);
    check_number("threads", threads, 1, kMostThreads);
}

int worth_waking(int threads, int schools, int fish, int least) {
    return schools > 1 && std::int64_t{schools} * fish >= least ? threads : 1;
}

void share_work(int count, int threads, pool::Workers::Task task, void* context) {
    if (threads > 1) {
        crew().run(count, threads, task, context);
        return;
    }
    for (int number = 0; number < count; ++number) task(context, number, 0);
}

}  // namespace fish
