// Words for threads and memory, which differ between APIs: a report says work-item for OpenCL and
// thread for CUDA. Texts contain placeholders: {thread}, {block} …
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
ApiId api_named(const char *name);  // by the name in column `api`; CUDA for an unknown name
// Replaces {thread} by the word, {threads} by its plural, {Thread} by the word with a capital.
void words_add(Str *out, const ApiWords *w, const char *text);
// The same for a format; what %s brings is left alone.
void words_printf(Str *out, const ApiWords *w, const char *fmt, ...) PRINTF_LIKE(3, 4);
// The API's word for a PTX state space: OpenCL calls "shared" "local".
const char *words_space(const ApiWords *w, const char *space);

#endif
