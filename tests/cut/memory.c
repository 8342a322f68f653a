// Prints how many bytes may still be used, by the /proc and /sys of a folder.
#include <stdio.h>

#include "base/memory_left.h"

int main(int argc, char **argv) {
  printf("%llu\n", (unsigned long long)memory_left(argc > 1 ? argv[1] : ""));
  return 0;
}
