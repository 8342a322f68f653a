// Variables of frames of local memory, as a process sends them: a line each, with tabs between.
#ifndef WG_RUN_FRAME_VARIABLES_H
#define WG_RUN_FRAME_VARIABLES_H

#include "base/base.h"

// type: of an element, "": not known; dims: "4,8", "": no array
typedef struct FrameVariable {
  char frame[128], name[128], type[160], dims[64];
  uint64_t offset, bytes;
} FrameVariable;

// The next line of *p, which is moved behind it; false: there is none.
bool frame_variable_next(const char **p, FrameVariable *out);

#endif
