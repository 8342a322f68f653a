#include "cuda/abi.h"

__attribute__((constructor)) static void start(void) { cuInit(0); }
