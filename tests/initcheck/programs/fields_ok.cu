// fields.cu where everything is written before it is read.
#define EARLY 0
#include "fields.cu"
