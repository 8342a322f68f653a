// Proofs that a recording on this machine, by this user, had a file as a source. The viewer shows
// only sources with a proof, so that a run file from somebody else cannot make it read arbitrary
// files. A proof is an HMAC of the file's real path with a key that only the user can read.
#include "run/internal.h"

#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROOF_TEXT = 2 * SHA256_BYTES + 1 };

typedef struct Key {
  uint8_t bytes[SHA256_BYTES];
} Key;

// A key that others could have read or written proves nothing.
static bool read_key(const char *path, Key *key) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat st;
  bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
            !(st.st_mode & 077) && read(fd, key, sizeof *key) == sizeof *key;
  if (fd >= 0) close(fd);
  return ok;
}

// Writes the key to a second file and links that into place: several recordings may begin at the
// same time, and none must see half a key.
static bool make_key(const char *path) {
  Key key;
  Str other = {0};
  str_printf(&other, "%s.%d", path, (int)getpid());
  bool ok = getrandom(&key, sizeof key, 0) == sizeof key;
  int fd = ok ? open(other.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
  ok = fd >= 0 && file_write_all(fd, &key, sizeof key) == 0;
  if (fd >= 0) ok = close(fd) == 0 && ok;
  ok = ok && (link(other.data, path) == 0 || errno == EEXIST);
  if (fd >= 0) unlink(other.data);
  str_free(&other);
  return ok;
}

static bool find_key(bool create, Key *key) {
  Str path = {0};
  bool ok = file_state_folder(&path);
  if (ok && create) file_make_folders(path.data, path.len);
  if (ok) str_add(&path, "/source-key");
  ok = ok &&
       (read_key(path.data, key) || (create && make_key(path.data) && read_key(path.data, key)));
  str_free(&path);
  return ok;
}

static void prove(const Key *key, const char *real, char out[PROOF_TEXT]) {
  Str text = {0};
  uint8_t proof[SHA256_BYTES];
  str_printf(&text, "warpgrind source %s", real);
  sha256_hmac(key->bytes, text.data, text.len, proof);
  for (int i = 0; i < SHA256_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", proof[i]);
  str_free(&text);
}

// The file was changed after the program was built: its lines may be different.
static bool is_newer(const Run *r, const struct stat *source) {
  struct stat st;
  for (uint32_t i = 0; i < r->processes.len; i++) {
    const char *program = r->processes.data[i]->program;
    if (program && stat(program, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
      return source->st_mtim.tv_sec > st.st_mtim.tv_sec ||
             (source->st_mtim.tv_sec == st.st_mtim.tv_sec &&
              source->st_mtim.tv_nsec > st.st_mtim.tv_nsec);
  }
  return false;
}

void run_prove_source(Run *r, const char *file) {
  if (!r->file || !file || r->replays || strmap_get(&r->proved_sources, file)) return;
  strmap_put(&r->proved_sources, run_text(r, file), r);
  Key key;
  char proof[PROOF_TEXT] = "", hash[17] = "";
  struct stat st;
  char *real = realpath(file, NULL);
  if (real && stat(real, &st) == 0 && S_ISREG(st.st_mode)) {
    if (find_key(true, &key)) prove(&key, real, proof);
    run_keep_source(r, file, real, hash);
    run_save(r, TABLE_source_file, "tttti", file, real, proof[0] ? proof : NULL,
             hash[0] ? hash : NULL, (int64_t)is_newer(r, &st));
  }
  free(real);
}

bool run_source_is_proved(const char *real, const char *proof) {
  Key key;
  char expected[PROOF_TEXT];
  if (!find_key(false, &key)) return false;
  prove(&key, real, expected);
  return strcmp(proof, expected) == 0;
}
