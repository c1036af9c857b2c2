#if defined(__x86_64__)

#define FISH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define FISH_INLINE FISH_TARGET __attribute__((always_inline)) inline

#include "fish/swim.h"

namespace fish {

const SwimPath kSwimAvx512 = kPath;

}  // namespace fish

#endif
