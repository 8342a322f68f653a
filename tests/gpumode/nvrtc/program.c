#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) return fprintf(stderr, "%s\n", dlerror()), 1;
  int (*compile)(void) = (int (*)(void))dlsym(plugin, "compile");
  return compile ? compile() : 1;
}
