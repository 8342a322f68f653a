// The table through which the exported functions jump, and their names.
#include "preload/preload.h"

#include "cuda/abi.h"

__attribute__((visibility("hidden"))) void *preload_table[] = {
#define API(base, suffix, since, types) (void *)base##suffix,
#define SAME(base, suffix, since, target, params, args) (void *)base##suffix,
#define PER_THREAD(base, suffix, kind, since, params, args) (void *)base##suffix##kind,
#define NONE(base, suffix, kind, since) (void *)base##suffix##kind,
#include "cuda/api.def"
};

const char *const preload_names[] = {
#define API(base, suffix, since, types) #base #suffix,
#define SAME(base, suffix, since, target, params, args) #base #suffix,
#define PER_THREAD(base, suffix, kind, since, params, args) #base #suffix #kind,
#define NONE(base, suffix, kind, since) #base #suffix #kind,
#include "cuda/api.def"
};

const unsigned preload_count = ARRAY_LEN(preload_table);
