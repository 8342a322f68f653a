#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*compile)(void) = (int (*)(void))dlsym(plugin, "compile");
  return compile ? compile() : 1;
}
