// The threads that schools are shared among, and what every call checks. Internal to fish/.
#pragma once

#include "pool/workers.h"

namespace fish {

// Throws std::invalid_argument with one sentence.
void check_number(const char* name, int value, int least, int most);
void check_sizes(int schools, int fish, int threads);

// All `threads` or one, where there is one school or fewer than `least` fish: waking others would take longer then. The
// number is never in between, for the threads are kept only as long as calls want equally many.
int worth_waking(int threads, int schools, int fish, int least);

// Calls task(number, thread) for every number below `count`, with threads numbered from 0; one thread is the caller
// alone. Callers at the same time take turns if they have more than one thread each. The task must not throw.
void share_work(int count, int threads, pool::Workers::Task task, void* context);

template <class Work>
void share_work(int count, int threads, Work& work) {
    const auto task = [](void* context, int number, int thread) { (*static_cast<Work*>(context))(number, thread); };
    share_work(count, threads, task, &work);
}

}  // namespace fish
