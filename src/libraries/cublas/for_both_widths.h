// See for_all_types.h.
#define FIRST
#define INT int
#define V1
#define V2 _v2
#include FUNCTIONS
#undef FIRST
#undef INT
#undef V1
#undef V2
#define INT int64_t
#define V1 _64
#define V2 _v2_64
#include FUNCTIONS
#undef INT
#undef V1
#undef V2
