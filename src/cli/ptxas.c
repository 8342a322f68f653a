// Runs in place of the ptxas that Triton and JAX call (docs/frameworks.md).
//
// These frameworks hand the driver finished machine code, so Warpgrind would lack the PTX of their
// kernels. `warpgrind` puts a folder with a link named ptxas before theirs; the link leads to this
// command, which recognizes the call by its name. We keep the PTX text, compile it re-emitted with
// the real ptxas, and stamp the machine code with the text's id (a variable named
// __warpgrind_ptx_ID). No tool's code is in it: a tool adds that when the module is loaded, from
// the text. Whatever goes wrong here, the real ptxas gets what the framework gave us.
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptx/ptx.h"

#define STAMP "__warpgrind_ptx_"
static const char texts_variable[] = "WARPGRIND_PTXAS_TEXTS";

// --- the real ptxas ---

static bool same_file(const char *path, const struct stat *self) {
  struct stat st;
  return stat(path, &st) == 0 && st.st_dev == self->st_dev && st.st_ino == self->st_ino;
}

static bool is_real(const char *path) {
  struct stat self;
  return path && *path && access(path, X_OK) == 0 && stat("/proc/self/exe", &self) == 0 &&
         !same_file(path, &self);
}

static bool find_on_path(Str *out) {
  const char *path = getenv("PATH");
  for (const char *p = path ? path : ""; *p;) {
    size_t n = strcspn(p, ":");
    out->len = 0;
    str_printf(out, "%.*s/ptxas", (int)n, p);
    if (is_real(out->data)) return true;
    p += n + (p[n] == ':');
  }
  return false;
}

// Finds the ptxas inside Triton's package: our parent process has loaded Triton's library from
// there.
static bool find_bundled(const char *name, Str *out) {
  char maps[64], line[4600];
  snprintf(maps, sizeof maps, "/proc/%d/maps", (int)getppid());
  FILE *f = fopen(maps, "re");
  bool found = false;
  while (f && !found && fgets(line, sizeof line, f)) {
    char *path = strchr(line, '/'), *package = path ? strstr(path, "/_C/libtriton") : NULL;
    if (!package) continue;
    out->len = 0;
    str_printf(out, "%.*s/backends/nvidia/bin/%s", (int)(package - path), path, name);
    found = is_real(out->data);
  }
  if (f) fclose(f);
  return found;
}

// called_as: "…/triton/ptxas" for Triton, which prefers its own; anything else: as found on PATH.
static bool find_real(const char *called_as, Str *out) {
  const char *slash = strrchr(called_as, '/'), *name = slash ? slash + 1 : called_as;
  bool blackwell = strcmp(name, "ptxas-blackwell") == 0;
  const char *given = getenv("WARPGRIND_REAL_PTXAS");
  if (!given && strstr(called_as, "/triton/"))
    given = getenv(blackwell ? "WARPGRIND_SAVED_TRITON_PTXAS_BLACKWELL_PATH"
                             : "WARPGRIND_SAVED_TRITON_PTXAS_PATH");
  if (is_real(given)) {
    str_add(out, given);
    return true;
  }
  if (strstr(called_as, "/triton/") && find_bundled(blackwell ? "ptxas-blackwell" : "ptxas", out))
    return true;
  return find_on_path(out);
}

static void restore(const char *variable, const char *saved_as) {
  const char *old = getenv(saved_as);
  if (!old) return;
  if (*old) setenv(variable, old, 1);
  else unsetenv(variable);
}

// Runs the real ptxas; out, err: descriptors for its standard output and error, -1: unchanged.
// Returns what waitpid gave, or -1.
static int spawn(const char *real, char **argv, int out, int err) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    if (out >= 0) dup2(out, STDOUT_FILENO);
    if (err >= 0) dup2(err, STDERR_FILENO);
    execv(real, argv);
    _exit(EXIT_NOT_FOUND);
  }
  int status = -1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return pid > 0 ? status : -1;
}

// --- one compilation ---

typedef struct Job {
  char **argv;
  int argc, input;  // argv[input] is the PTX file
  bool has_lines;   // -lineinfo or -g was given
  Str text, options, emitted;
  char id[33];
} Job;

static bool is_ptx_file(const char *path, Str *text) {
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !file_read(path, text, NULL)) return false;
  if (text->len > 16 && memcmp(text->data, "\177ELF", 4) != 0 && strstr(text->data, ".version") &&
      strstr(text->data, ".target"))
    return true;
  text->len = 0;
  return false;
}

// Finds the argument that is the one PTX file. Options for several inputs or other output are left
// to the real ptxas.
static bool find_input(Job *job) {
  static const char *const not_ours[] = {
      "-c", "--compile-only", "-rdc",  "--input-as-string", "--help",
      "-h", "--dump-code",    "-optf", "--options-file"};
  for (int i = 1; i < job->argc; i++) {
    const char *a = job->argv[i];
    for (size_t k = 0; k < ARRAY_LEN(not_ours); k++)
      if (strcmp(a, not_ours[k]) == 0) return false;
    if (strcmp(a, "-o") == 0 || strcmp(a, "--output-file") == 0) {
      i++;
      continue;
    }
    if (a[0] == '-') {
      job->has_lines |= strstr(a, "lineinfo") || strstr(a, "line-info") || strcmp(a, "-g") == 0 ||
                        strcmp(a, "--device-debug") == 0;
      str_printf(&job->options, "%s ", a);
      continue;
    }
    Str text = {0};
    if (!is_ptx_file(a, &text)) {
      str_free(&text);
      str_printf(&job->options, "%s ", a);  // the value of an option: --opt-level 0
      continue;
    }
    if (job->input) {
      str_free(&text);
      return false;
    }
    job->input = i;
    job->text = text;
  }
  return job->input != 0;
}

static void make_id(Job *job) {
  Str all = {0};
  str_printf(&all, "%s\n", job->options.len ? job->options.data : "");
  str_addn(&all, job->text.data, job->text.len);
  uint64_t one = base_hash(all.data, all.len);
  str_printf(&all, "%016llx", (unsigned long long)one);
  uint64_t two = base_hash(all.data + all.len / 2, all.len - all.len / 2) ^
                 base_hash(all.data, all.len);
  snprintf(job->id, sizeof job->id, "%016llx%016llx", (unsigned long long)one,
           (unsigned long long)two);
  str_free(&all);
}

static bool emit(Job *job, Error *err) {
  PtxModule *m = ptx_parse(job->text.data, job->text.len, job->argv[job->input], err);
  if (!m) return false;
  bool ok = ptx_verify(m, err);
  if (ok) {
    ptx_print(m, &job->emitted);
    str_printf(&job->emitted, "\n.global .align 1 .b8 " STAMP "%s[1];\n", job->id);
  }
  ptx_free(m);
  return ok;
}

// Keeps the text as the framework made it, then the options in a comment. Writes a temporary file
// and renames it.
static bool keep_text(const Job *job, const char *folder, Error *err) {
  Str path = {0}, temporary = {0}, content = {0};
  str_printf(&path, "%s/%s.ptx", folder, job->id);
  bool ok = access(path.data, R_OK) == 0;
  if (!ok) {
    str_printf(&temporary, "%s/.new.%d", folder, (int)getpid());
    str_addn(&content, job->text.data, job->text.len);
    str_printf(&content, "\n// ptxas options: %s\n", job->options.len ? job->options.data : "");
    ok = file_write(temporary.data, content.data, content.len, err);
    if (ok && rename(temporary.data, path.data) != 0)
      ok = error_set(err, "cannot write %s: %s", path.data, strerror(errno));
    if (!ok) unlink(temporary.data);
  }
  str_free(&path);
  str_free(&temporary);
  str_free(&content);
  return ok;
}

static void replay(int from, int to) {
  char buffer[4096];
  lseek(from, 0, SEEK_SET);
  for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
    if (write(to, buffer, (size_t)n) != n) return;
}

// Compiles the re-emitted text. Shows the output of the real ptxas only if it succeeds; otherwise
// it runs again.
static bool compile_emitted(const Job *job, const char *real, Error *err) {
  const char *tmp = getenv("TMPDIR");
  Str input = {0};
  str_printf(&input, "%s/warpgrind-XXXXXX.ptx", tmp && *tmp ? tmp : P_tmpdir);
  int fd = mkostemps(input.data, 4, O_CLOEXEC), out = memfd_create("stdout", MFD_CLOEXEC),
      messages = memfd_create("stderr", MFD_CLOEXEC);
  char **argv = mem_alloc(sizeof *argv * (size_t)(job->argc + 2));
  bool ok = fd >= 0 && out >= 0 && messages >= 0 &&
            write(fd, job->emitted.data, job->emitted.len) == (ssize_t)job->emitted.len;
  if (!ok) {
    error_set(err, "cannot write %s: %s", input.data, strerror(errno));
  } else {
    int n = 0;
    for (int i = 0; i < job->argc; i++) argv[n++] = i == job->input ? input.data : job->argv[i];
    argv[0] = (char *)real;
    if (!job->has_lines) argv[n++] = "-lineinfo";
    int status = spawn(real, argv, out, messages);
    ok = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ok) error_set(err, "the re-emitted PTX was refused");
  }
  if (ok) {
    replay(out, STDOUT_FILENO);
    replay(messages, STDERR_FILENO);
  }
  if (fd >= 0) {
    close(fd);
    unlink(input.data);
  }
  if (out >= 0) close(out);
  if (messages >= 0) close(messages);
  free(argv);
  str_free(&input);
  return ok;
}

static void say_why(const char *name, const char *why) {
  Options o = {0};
  Error err = {{0}};
  if (options_from_environment(&o, &err) && options_open_log(&o, getpid(), &err))
    log_verbose("ptxas: %s is compiled as it is: %s", name, why);
}

// Everything that went into a cubin besides the text: our version and build.
static void print_version(void) {
  struct stat st = {0};
  stat("/proc/self/exe", &st);
  uint64_t facts[3] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                       (uint64_t)st.st_mtim.tv_nsec};
  printf("Warpgrind " WARPGRIND_VERSION ", build %016llx, stamps what it compiles\n",
         (unsigned long long)base_hash(facts, sizeof facts));
}

int cli_ptxas(int argc, char **argv) {
  Str real = {0};
  if (!find_real(argv[0], &real)) {
    cli_fail("ptxas: there is no other ptxas on PATH. Name it in WARPGRIND_REAL_PTXAS.");
    return EXIT_NOT_FOUND;
  }
  restore("LD_PRELOAD", "WARPGRIND_SAVED_LD_PRELOAD");  // the real one needs no CUDA
  restore("LD_LIBRARY_PATH", "WARPGRIND_SAVED_LD_LIBRARY_PATH");
  const char *texts = getenv(texts_variable);
  char *called_as = argv[0];
  argv[0] = real.data;
  if (texts && *texts) {
    for (int i = 1; i < argc; i++)
      if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0) {
        int status = spawn(real.data, argv, -1, -1);
        print_version();
        return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WARPGRIND;
      }
    Job job = {.argv = argv, .argc = argc};
    Error err = {{0}};
    if (find_input(&job)) {
      make_id(&job);
      if (emit(&job, &err) && keep_text(&job, texts, &err) &&
          compile_emitted(&job, real.data, &err))
        return 0;
      say_why(argv[job.input], err.text);
    }
  }
  execv(real.data, argv);
  cli_fail("ptxas: %s (called as %s) cannot be executed: %s", real.data, called_as,
           strerror(errno));
  return EXIT_NOT_EXECUTABLE;
}

// --- the program's environment ---

static bool make_folder(Str *path) {
  return file_make_folders(path->data, path->len) && access(path->data, W_OK) == 0;
}

static bool cache_folder(const char *below, Str *out) {
  if (!file_cache_folder(out)) return false;
  str_printf(out, "/%s", below);
  return make_folder(out);
}

static void set_saved(const char *variable, const char *value, const char *saved_as) {
  const char *old = getenv(variable);
  if (saved_as) setenv(saved_as, old ? old : "", 1);
  setenv(variable, value, 1);
}

// Caches of frameworks: runs with and without Warpgrind must not find each other's compiled code.
static const struct {
  const char *variable, *folder;
  bool only_if_set;
} caches[] = {
    {"TRITON_CACHE_DIR", "frameworks/triton", false},
    {"TORCHINDUCTOR_CACHE_DIR", "frameworks/inductor", false},
    {"CUPY_CACHE_DIR", "frameworks/cupy", false},
    {"JAX_COMPILATION_CACHE_DIR", "frameworks/jax", true},
};

// Makes a link to this command. Replaces one that leads elsewhere: another copy of Warpgrind may
// use the same cache folder.
static bool make_link(const char *folder, const char *name, const char *self, Str *out) {
  char old[4096];
  out->len = 0;
  str_printf(out, "%s/%s", folder, name);
  ssize_t n = readlink(out->data, old, sizeof old - 1);
  if (n > 0 && (size_t)n == strlen(self) && memcmp(old, self, (size_t)n) == 0) return true;
  unlink(out->data);
  return symlink(self, out->data) == 0 || errno == EEXIST;
}

static bool set_front(const char *self, const char *texts) {
  Str below = {0}, for_path = {0}, for_triton = {0}, link = {0}, path = {0};
  uint64_t hash = base_hash(self, strlen(self));
  str_printf(&below, "front/%016llx/path", (unsigned long long)hash);
  bool ok = cache_folder(below.data, &for_path);
  below.len = 0;
  str_printf(&below, "front/%016llx/triton", (unsigned long long)hash);
  ok = ok && cache_folder(below.data, &for_triton) &&
       make_link(for_path.data, "ptxas", self, &link);
  if (ok && make_link(for_triton.data, "ptxas", self, &link))
    set_saved("TRITON_PTXAS_PATH", link.data, "WARPGRIND_SAVED_TRITON_PTXAS_PATH");
  if (ok && make_link(for_triton.data, "ptxas-blackwell", self, &link))
    set_saved("TRITON_PTXAS_BLACKWELL_PATH", link.data,
              "WARPGRIND_SAVED_TRITON_PTXAS_BLACKWELL_PATH");
  if (ok) {
    const char *old = getenv("PATH");
    str_printf(&path, "%s%s%s", for_path.data, old && *old ? ":" : "", old ? old : "");
    setenv("PATH", path.data, 1);
    setenv(texts_variable, texts, 1);
  }
  str_free(&below);
  str_free(&for_path);
  str_free(&for_triton);
  str_free(&link);
  str_free(&path);
  return ok;
}

void cli_ptxas_environment(void) {
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0 || getenv(texts_variable)) return;  // set already: Warpgrind under Warpgrind
  self[n] = 0;
  Str texts = {0};
  if (!cache_folder("ptxas", &texts) || !set_front(self, texts.data)) {
    log_verbose("Triton and JAX compile without Warpgrind: its cache folder cannot be written");
  } else {
    for (size_t i = 0; i < ARRAY_LEN(caches); i++) {
      Str cache = {0};
      if ((!caches[i].only_if_set || getenv(caches[i].variable)) &&
          cache_folder(caches[i].folder, &cache))
        setenv(caches[i].variable, cache.data, 1);
      str_free(&cache);
    }
    // else CuPy has NVRTC make machine code, which has no PTX
    setenv("CUPY_COMPILE_WITH_PTX", "1", 0);
  }
  str_free(&texts);
}
