#if defined(__x86_64__)

#define FISH_TARGET __attribute__((target("avx2")))
#define FISH_INLINE FISH_TARGET __attribute__((always_inline)) inline

#include "fish/swim.h"

namespace fish {

const SwimPath kSwimAvx2 = kPath;

}  // namespace fish

#endif
