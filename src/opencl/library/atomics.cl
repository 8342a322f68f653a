// 64-bit atomics of cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics.
#define ATOM_OPERATION(name, operation, space, type) \
  type BUILT_IN name(volatile space type *p, type value) { \
    return operation((volatile space atomic_##type *)p, value, memory_order_relaxed, \
                     memory_scope_device); \
  }
#define ATOM_TYPE(space, type) \
  ATOM_OPERATION(atom_add, __opencl_atomic_fetch_add, space, type) \
  ATOM_OPERATION(atom_sub, __opencl_atomic_fetch_sub, space, type) \
  ATOM_OPERATION(atom_xchg, __opencl_atomic_exchange, space, type) \
  ATOM_OPERATION(atom_min, __opencl_atomic_fetch_min, space, type) \
  ATOM_OPERATION(atom_max, __opencl_atomic_fetch_max, space, type) \
  ATOM_OPERATION(atom_and, __opencl_atomic_fetch_and, space, type) \
  ATOM_OPERATION(atom_or, __opencl_atomic_fetch_or, space, type) \
  ATOM_OPERATION(atom_xor, __opencl_atomic_fetch_xor, space, type) \
  type BUILT_IN atom_inc(volatile space type *p) { return atom_add(p, (type)1); } \
  type BUILT_IN atom_dec(volatile space type *p) { return atom_sub(p, (type)1); } \
  type BUILT_IN atom_cmpxchg(volatile space type *p, type expected, type value) { \
    __opencl_atomic_compare_exchange_strong((volatile space atomic_##type *)p, &expected, value, \
                                            memory_order_relaxed, memory_order_relaxed, \
                                            memory_scope_device); \
    return expected; \
  }
ATOM_TYPE(global, long)
ATOM_TYPE(global, ulong)
ATOM_TYPE(local, long)
ATOM_TYPE(local, ulong)
