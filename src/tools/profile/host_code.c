// Saves the PTX of modules for the command, which reads registers and spills of its kernels from
// it.
#include "session/internal.h"
#include "tools/profile/host.h"

static const char *found;
static void find_folder(void) {
  const char *f = getenv("WARPGRIND_PROFILE_CODE");
  found = f && *f ? mem_strdup(f) : NULL;
}
static const char *folder(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_folder);
  return found;
}

// Each content is saved once; asked at each launch.
bool profile_wants_code(const SessionModule *m) {
  static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
  static U64Map seen;
  static _Thread_local const SessionModule *last;
  if (last == m || !folder()) return false;
  last = m;
  pthread_mutex_lock(&seen_lock);
  bool fresh = !u64map_get(&seen, m->hash);
  if (fresh) u64map_put(&seen, m->hash, &seen);
  pthread_mutex_unlock(&seen_lock);
  return fresh;
}

void profile_code(const SessionModule *m, const SessionCode *units, uint32_t n) {
  for (uint32_t i = 0; folder() && i < n; i++) {
    Str text = {0}, path = {0};
    Error err = {0};
    if (units[i].options && *units[i].options)
      str_printf(&text, "// options: %s\n", units[i].options);
    str_addn(&text, units[i].text, units[i].len);
    while (text.len && !text.data[text.len - 1]) text.len--;
    str_printf(&path, "%s/%016llx-%u.ptx", folder(), (unsigned long long)m->hash, i);
    file_write(path.data, text.data, text.len, &err);  // without it registers are unknown
    str_free(&text);
    str_free(&path);
  }
}
