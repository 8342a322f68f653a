// Finds the program to start, and Warpgrind's library; says why a program is not supported.
#define _GNU_SOURCE

#include "cli/cli.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if __has_include("runtime/check_executable.h")
#include "runtime/check_executable.h"
#define HAVE_CHECK_EXECUTABLE 1
#endif

#define RUN_FILE "%s: this is a run file, not a program. To look at it: warpgrind view %s"
static bool is_run_file(const char *name) {
  size_t n = strlen(name);
  return n > 3 && strcmp(name + n - 3, ".wg") == 0;
}

static bool is_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int cli_find_program(const char *name, Str *path, Error *err) {
  if (strchr(name, '/')) {
    str_add(path, name);
    return 0;
  }
  const char *search = getenv("PATH");
  Str denied = {0};
  for (const char *p = search ? search : "/usr/bin:/bin";; p++) {
    size_t n = strcspn(p, ":");
    Str candidate = {0};
    str_printf(&candidate, "%.*s/%s", (int)(n ? n : 1), n ? p : ".", name);
    bool found = is_file(candidate.data);
    if (found && access(candidate.data, X_OK) == 0) {
      str_add(path, candidate.data);
      str_free(&candidate);
      str_free(&denied);
      return 0;
    }
    if (found && !denied.data) str_add(&denied, candidate.data);
    str_free(&candidate);
    p += n;
    if (!*p) break;
  }
  if (denied.data) {
    error_set(err, "%s: the file is not executable.", denied.data);
    str_free(&denied);
    return EXIT_NOT_EXECUTABLE;
  }
  if (is_file(name) && is_run_file(name)) {
    error_set(err, RUN_FILE, name, name);
    return EXIT_NOT_EXECUTABLE;
  }
  error_set(err, "%s: command not found.%s%s", name,
            is_file(name) ? " There is a file of that name here: write ./" : "",
            is_file(name) ? name : "");
  return EXIT_NOT_FOUND;
}

// The dynamic linker ignores LD_PRELOAD in programs that gain rights when they start.
static bool gains_rights(const char *path, const struct stat *st) {
  if (geteuid() == 0 && getuid() == 0) return false;
  bool setuid = (st->st_mode & S_ISUID) && st->st_uid != geteuid();
  bool setgid = (st->st_mode & S_ISGID) && st->st_gid != getegid();
  return setuid || setgid || getxattr(path, "security.capability", NULL, 0) > 0;
}

static bool wrong_machine(const char *path) {
  Elf64_Ehdr eh = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, &eh, sizeof eh);
  close(fd);
#if defined(__x86_64__)
  const int machine = EM_X86_64;
#else
  const int machine = EM_AARCH64;
#endif
  return n >= 20 && memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0 &&
         (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != machine);
}

int cli_check_program(const char *path, bool on_gpu, Error *err) {
  struct stat st;
  if (stat(path, &st) != 0) {
    bool missing = errno == ENOENT || errno == ENOTDIR;
    error_set(err, "%s: %s.", path, missing ? "no such file" : strerror(errno));
    return missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
  }
  if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0) {
    if (S_ISREG(st.st_mode) && is_run_file(path)) error_set(err, RUN_FILE, path, path);
    else
      error_set(err, "%s: %s.", path,
                S_ISDIR(st.st_mode) ? "is a folder" : "the file is not executable");
    return EXIT_NOT_EXECUTABLE;
  }
  if (wrong_machine(path)) {
    error_set(err, "%s: the program was built for another kind of processor than this Warpgrind.",
              path);
    return EXIT_NOT_EXECUTABLE;
  }
  if (gains_rights(path, &st)) {
    error_set(err,
              "%s: the program has the set-user-id or set-group-id bit or file capabilities. The "
              "system loads no other "
              "library into such programs, so Warpgrind cannot work with it. Run a copy without "
              "these rights.",
              path);
    return EXIT_WARPGRIND;
  }
#ifdef HAVE_CHECK_EXECUTABLE
  if (!on_gpu && !runtime_check_executable(path, err)) return EXIT_WARPGRIND;
#endif
  return 0;
}

// Beside the command in the build folder (build/lib), or in prefix/lib/warpgrind for
// prefix/bin/warpgrind.
bool cli_find_library(Str *folder, Error *err) {
  static const char *const places[] = {"lib", "../lib/warpgrind"};
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0)
    return error_set(err, "cannot find out where the warpgrind command lies: %s", strerror(errno));
  self[n] = 0;
  *strrchr(self, '/') = 0;
  for (size_t i = 0; i < ARRAY_LEN(places); i++) {
    Str file = {0};
    str_printf(&file, "%s/%s/libcuda.so.1", self, places[i]);
    bool found = is_file(file.data);
    str_free(&file);
    if (!found) continue;
    str_printf(folder, "%s/%s", self, places[i]);
    if (strpbrk(folder->data, ":;"))
      return error_set(
          err,
          "Warpgrind lies in %s: the dynamic linker takes : and ; in a path as separators. "
          "Move it to a folder without them.",
          self);
    return true;
  }
  return error_set(err,
                   "libcuda.so.1 of Warpgrind was found neither in %s/lib nor in "
                   "%s/../lib/warpgrind. Run make, or make install.",
                   self, self);
}
