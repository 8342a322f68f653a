// Parses the value of --hash, in the command and in the program; the word for launches that it
// leaves out.
#ifndef WG_HASH_OPTION_H
#define WG_HASH_OPTION_H

#include "base/base.h"

// every: of launches on a GPU whose outputs the next launch overwrites, hash every N-th of each
// kernel. 0: as many as cost little.
typedef struct HashOption {
  bool on;
  uint32_t every;
} HashOption;
bool hash_option_parse(const char *text, HashOption *out, Error *err);  // NULL: not asked for

#define HASH_LEFT_OUT "it was not hashed: later work overwrote it"  // column state of buffer_hash
#define HASH_CUT "recording was cut short before it was hashed"  // the same, until its hash arrives
#define HASH_PROCESS_ENDED "the process ended before it was read"

#endif
