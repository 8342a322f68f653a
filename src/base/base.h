// base: arena, vector, map, string, error, log. Knows nothing of GPUs.
#ifndef WG_BASE_H
#define WG_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

// --- check.c: asserts stay on in release builds; they mean "we are wrong". ---
_Noreturn void base_check_failed(const char *file, int line, const char *what);
#define CHECK(cond) ((cond) ? (void)0 : base_check_failed(__FILE__, __LINE__, #cond))

// --- memory.c: allocation that never returns NULL (it ends the process with a named error). ---
void *mem_alloc(size_t size);  // zeroed
void *mem_realloc(void *p, size_t size);
char *mem_strdup(const char *s);

// --- arena.c: memory with one lifetime. All memory is zeroed and aligned to 16. ---
typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
  ArenaChunk *chunks;
  char *next, *end;
} Arena;  // {0} is a valid empty arena
void *arena_alloc(Arena *a, size_t size);
// Not zeroed: for large memory that the caller fills at once.
void *arena_alloc_uncleared(Arena *a, size_t size);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_strdup(Arena *a, const char *s);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
void arena_free(Arena *a);  // everything; the arena is empty again
#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

// --- vec: a growable array on the heap: VEC(int) v = {0}; vec_push(&v, 3); vec_free(&v); ---
#define VEC(T) \
  struct { \
    T *data; \
    uint32_t len, cap; \
  }
#define vec_push(v, ...) \
  do { \
    if ((v)->len == (v)->cap) (v)->data = vec_grow((v)->data, &(v)->cap, sizeof *(v)->data); \
    (v)->data[(v)->len++] = (__VA_ARGS__); \
  } while (0)
#define vec_free(v) (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)
void *vec_grow(void *data, uint32_t *cap, size_t elem);

// --- map.c: hash maps. Keys of a StrMap are not copied. {0} is a valid empty map. ---
typedef struct StrMap {
  struct StrMapSlot *slots;
  uint32_t len, cap;
} StrMap;
void *strmap_get(const StrMap *m, const char *key);
void *strmap_getn(const StrMap *m, const char *key, size_t n);
void strmap_put(StrMap *m, const char *key, void *value);                         // replaces
bool strmap_next(const StrMap *m, uint32_t *it, const char **key, void **value);  // *it starts at 0
void strmap_free(StrMap *m);
typedef struct U64Map {
  struct U64MapSlot *slots;
  uint32_t len, cap, used;
} U64Map;
void *u64map_get(const U64Map *m, uint64_t key);
void u64map_put(U64Map *m, uint64_t key, void *value);
void *u64map_remove(U64Map *m, uint64_t key);
bool u64map_next(const U64Map *m, uint32_t *it, uint64_t *key, void **value);
void u64map_free(U64Map *m);
void u64map_free_all(U64Map *m);  // frees the values too

// --- sorted.c: a map sorted by number. {0} is a valid empty map; values are not NULL. ---
typedef struct SortedMap {
  struct SortedChunk **chunks;
  uint32_t nchunks, cap, len;
} SortedMap;
void *sorted_get(const SortedMap *m, uint64_t key);
void sorted_put(SortedMap *m, uint64_t key, void *value);  // replaces
void *sorted_remove(SortedMap *m, uint64_t key);
// The entry with the largest key <= key; *found: its key.
void *sorted_below(const SortedMap *m, uint64_t key, uint64_t *found);
// The entry with the smallest key >= key.
void *sorted_from(const SortedMap *m, uint64_t key, uint64_t *found);
uint64_t base_hash(const void *data, size_t n);

// --- str.c: a growable string, always NUL-terminated once something was added. ---
typedef struct Str {
  char *data;
  size_t len, cap;
} Str;
void str_add(Str *s, const char *text);
void str_addn(Str *s, const char *text, size_t n);
void str_addc(Str *s, char c);
void str_printf(Str *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void str_free(Str *s);
bool text_ends_with(const char *text, const char *end);

// --- error.c: why something could not be done, in words a user can act on. ---
typedef struct Error {
  char text[2048];
} Error;  // "" means no error
// always returns false; e may be NULL
bool error_set(Error *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

// --- thread.c ---
// for pthread_create: a stack whose size does not depend on ulimit -s
const pthread_attr_t *thread_attributes(void);
// Starts a thread that blocks all signals: they are left to the program's threads and the main
// thread. Returns 0 or pthread_create's error.
int thread_start(pthread_t *out, void *(*run)(void *), void *user);

// --- clock.c: time that only goes forward ---
uint64_t clock_ns(void);

// --- file.c ---
bool file_read(const char *path, Str *out, Error *e);
bool file_write(const char *path, const void *data, size_t n, Error *e);
// 0, or errno; waits where the descriptor does not block
int file_write_all(int fd, const void *data, size_t n);
bool file_read_all(int fd, void *to, size_t n);  // false: an error, or fewer than n bytes are left
// The first n characters of the path, folder by folder, for the user alone. false: errno
bool file_make_folders(const char *path, size_t n);
// The folder for files that a later run can reuse: $WARPGRIND_CACHE_DIR, else
// $XDG_CACHE_HOME/warpgrind, else ~/.cache/warpgrind. It need not exist. false: nowhere (the first
// is set and empty, or there is no home folder).
bool file_cache_folder(Str *out);
// The folder for files that must last: $WARPGRIND_STATE_DIR, else $XDG_STATE_HOME/warpgrind, else
// ~/.local/state/warpgrind; as above.
bool file_state_folder(Str *out);

// --- log.c: every line starts with "==PID== " and goes to standard error or the log file.
// Thread-safe. ---
typedef enum { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE } LogLevel;
void log_open(const char *path, LogLevel level);  // path NULL: standard error
// A failed write loses its message. The command then sends later messages to standard error; the
// library reports the failure to the command.
typedef void LogFailure(const char *path, int error);
void log_fall_back(void);  // a log file that cannot be written is replaced by standard error
void log_on_failure(LogFailure *f);  // called when the log file cannot be written
int log_failure(void);      // errno of the first write that failed; 0: none, or a closed pipe
int log_close(void);        // the same, after the log file was closed
void log_set_pid(int pid);  // lines that speak about another process; 0: this one
void log_line(const char *fmt, ...) PRINTF_LIKE(1, 2);     // unless quiet
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);    // always
void log_plain(const char *text);                          // always, as it is: without the prefix
void log_verbose(const char *fmt, ...) PRINTF_LIKE(1, 2);  // with -v
// first time a key is seen; key is copied
void log_once(const char *key, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
