// Prints sizes, offsets and values of the driver's binary interface. Built twice, with our
// declarations and (-DTOOLKIT) with a toolkit's cuda.h; tests/driver/abi_layout.sh compares the two
// outputs.
#include <stdio.h>
#ifdef TOOLKIT
#include <cuda.h>
#else
#include "cuda/abi.h"
#endif
#include <stddef.h>

#define S(type) printf("%s %zu\n", #type, sizeof(type));
#define F(type, field) \
  printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
#define V(name) printf("%s %lld\n", #name, (long long)name);

int main(void) {
#include "abi_layout.def"
#define ERROR(name, value, text) V(name)
#include "cuda/errors.def"
#define ATTRIBUTE(name, number, value) V(CU_DEVICE_ATTRIBUTE_##name)
#include "cuda/attributes.def"
  return 0;
}
