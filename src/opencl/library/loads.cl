// 16 bytes at any address, in two steps: clang (19) makes one aligned load of them.
#define LOAD_BYTES(type, space) \
  type##16 BUILT_IN vload16(size_t i, const space type *p) { \
    return (type##16)(vload8(2 * i, p), vload8(2 * i + 1, p)); \
  }
#define LOAD_BYTES_FROM(type) \
  LOAD_BYTES(type, global) \
  LOAD_BYTES(type, local) LOAD_BYTES(type, private) LOAD_BYTES(type, constant)
LOAD_BYTES_FROM(char)
LOAD_BYTES_FROM(uchar)
