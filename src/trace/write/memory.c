// Memory for waiting records unless an option sets it: half of the free memory.
#include "base/memory_left.h"
#include "trace/write/writer.h"

static const uint64_t MOST = 64ull << 30, LEAST = 64ull << 20;

uint64_t writer_default_memory(void) { return MAX(MIN(memory_left("") / 2, MOST), LEAST); }
