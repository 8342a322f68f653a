// The same with flags that are set after a barrier behind the reads.
#define CORRECT
#include "flag_after_read.cu"
