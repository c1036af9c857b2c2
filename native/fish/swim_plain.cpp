// The vectors that every processor of ours has: SSE2 or NEON, chosen by the compiler.
#define FISH_TARGET
#define FISH_INLINE __attribute__((always_inline)) inline

#include "fish/swim.h"

namespace fish {

const SwimPath kSwimPlain = kPath;

}  // namespace fish
