// The exported entry of every driver function, as exported_<name>: what dlsym finds.
#ifndef WG_CUDA_EXPORTED_H
#define WG_CUDA_EXPORTED_H

#define EXPORTED(name) extern const char exported_##name[] __asm__(#name);
#define API(base, suffix, since, types) EXPORTED(base##suffix)
#define SAME(base, suffix, since, target, params, args) EXPORTED(base##suffix)
#define PER_THREAD(base, suffix, kind, since, params, args) EXPORTED(base##suffix##kind)
#define NONE(base, suffix, kind, since) EXPORTED(base##suffix##kind)
#include "cuda/api.def"

#endif
