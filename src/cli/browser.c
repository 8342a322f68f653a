// Opens the browser at the viewer's address. The address holds a secret, and every user can read
// the command lines of processes. So the browser opens a page that only this user can read, and the
// page redirects to the address.
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static Str folder, page;  // page: in the folder; "" if there is none

static bool make_folder(void) {
  const char *const parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), P_tmpdir};
  for (size_t i = 0; i < ARRAY_LEN(parents); i++) {
    if (!parents[i] || !*parents[i]) continue;
    folder.len = 0;
    str_printf(&folder, "%s/warpgrind-view-XXXXXX", parents[i]);
    if (mkdtemp(folder.data)) return true;
  }
  folder.len = 0;
  return false;
}

static bool make_page(const char *url) {
  if (!make_folder()) return false;
  Str text = {0};
  str_printf(&page, "%s/open.html", folder.data);
  str_printf(&text,
             "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
             "content=\"no-referrer\"><title>Warpgrind</title>"
             "<meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%s\">the run</a>\n",
             url, url);
  int fd = open(page.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool ok = fd >= 0 && file_write_all(fd, text.data, text.len) == 0;
  if (fd >= 0) close(fd);
  str_free(&text);
  return ok;
}

// Forks twice: init adopts the browser, which may outlive this command.
static void start_browser(void) {
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, NULL);
      signal(SIGPIPE, SIG_DFL);
      int nowhere = open("/dev/null", O_RDWR);
      for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2(nowhere, fd) < 0) _exit(1);
      execlp("xdg-open", "xdg-open", page.data, (char *)NULL);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

void cli_browser_open(const char *url) {
  if (make_page(url)) start_browser();
}

void cli_browser_forget(void) {
  if (page.len) unlink(page.data);
  if (folder.len) rmdir(folder.data);
}
