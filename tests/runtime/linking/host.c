// Opens the plugin, uses it, closes it, and does it all again: the second time its addresses may be
// the same.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  for (int i = 0; i < 2; i++) {
    void *h = dlopen(argv[1], RTLD_NOW);
    if (!h) {
      printf("%s\n", dlerror());
      return 1;
    }
    int (*square)(int) = (int (*)(int))dlsym(h, "plugin_square");
    printf("square %d\n", square(6 + i));
    dlclose(h);
  }
  return 0;
}
