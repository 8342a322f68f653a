// warpgrind version
#include "cli/cli.h"

int cli_version(const CliArguments *a) {
#if defined(__x86_64__)
  const char *arch = "x86-64";
#elif defined(__aarch64__)
  const char *arch = "AArch64";
#else
#error "Warpgrind knows x86-64 and AArch64 hosts"
#endif
  printf("warpgrind %s (%s, built with %s %s)\n", WARPGRIND_VERSION, arch,
#ifdef __clang__
         "clang", __clang_version__
#else
         "gcc", __VERSION__
#endif
  );
  return 0;
}
