// arch: 90
#define CORRECT
#include "queue.cu"
