// Parses the value of --dump-buffers, FOLDER[,word…], in the command and in the program.
#ifndef WG_DUMP_OPTION_H
#define WG_DUMP_OPTION_H

#include "base/base.h"

typedef struct DumpOption {
  char folder[4096], kernel[512];  // kernel: a regular expression, ""; all
  bool binary, written, last;      // written: only what the launch may have written
  uint64_t every, launch;  // every N-th launch of those that fit; launch: this one only, 0: all
} DumpOption;
bool dump_option_parse(const char *text, DumpOption *out, Error *err);
bool dump_option_kernel_fits(const DumpOption *o, const char *name);  // as linked

#endif
