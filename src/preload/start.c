// What happens when the library is loaded into a program, before any other code of the program
// runs.
#define _GNU_SOURCE

#include "base/options.h"
#include "base/runstats.h"
#include "preload/preload.h"
#include "session/session.h"

#include <unistd.h>

// The library is marked "initfirst": it is initialised even before libc has seen the environment,
// and getenv finds nothing (measured with glibc 2.36). In the array given here, variables that
// setenv replaces or unsetenv removes stay changed; variables that setenv adds get lost.
static void find_environment(char **envp) {
  if (!environ) environ = envp;
}

__attribute__((constructor(101))) static void start(int argc, char **argv, char **envp) {
  find_environment(envp);
  runstats();  // counts this process
  session_attach();
  if (preload_on_gpu()) preload_bind_later();
  Options options = {0};
  Error err = {0};
  if (options_from_environment(&options, &err)) options_release_children(&options);
}

// A process that cannot reach the command has no other way to tell it that something was not
// checked.
__attribute__((destructor(101))) static void end(void) {
  enum { EXIT_WARPGRIND = 125 };
  if (!runstats_is_unheard()) return;
  fflush(NULL);
  _exit(EXIT_WARPGRIND);
}
