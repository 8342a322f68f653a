// seal FILE…: gives every page of a run file the checksum of what it holds, after a test has
// changed it on purpose.
#include "store/store.h"

int main(int argc, char **argv) {
  Error err = {{0}};
  for (int i = 1; i < argc; i++)
    if (!store_seal(argv[i], &err)) {
      fprintf(stderr, "%s\n", err.text);
      return 1;
    }
  return 0;
}
