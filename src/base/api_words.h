// Words for threads and memory, which differ from API to API: a report says work-item of an OpenCL
// launch where it says thread of one of CUDA. Texts have {thread}, {block} … in their place.
#ifndef WG_API_WORDS_H
#define WG_API_WORDS_H

#include "base/base.h"

typedef enum ApiId {
#define API(id, ...) API_##id,
#include "base/api_words.def"
  API_COUNT_
} ApiId;

// the columns of api_words.def
typedef struct ApiWords {
  const char *api, *thread, *block, *grid, *warp, *shared, *local, *kernel, *stream, *part;
  const char *thread_index, *block_size, *warp_barrier, *cooperative_launch;
  const char *with_shared_fence, *with_global_fence, *lines;
  bool grid_in_threads;  // reports give the size of a grid in threads, not in blocks
} ApiWords;

const ApiWords *api_words(ApiId api);
ApiId api_named(const char *name);  // as in the column `api`; CUDA where that is not known
// Replaces {thread} by the word, {threads} by its plural, {Thread} by the word with a capital.
void words_add(Str *out, const ApiWords *w, const char *text);
// The same for a format; what %s brings is left alone.
void words_printf(Str *out, const ApiWords *w, const char *fmt, ...) PRINTF_LIKE(3, 4);
// of a PTX state space: "shared" is called "local" in OpenCL
const char *words_space(const ApiWords *w, const char *space);

#endif
