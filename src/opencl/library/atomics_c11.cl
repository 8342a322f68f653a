// The atomics of OpenCL C 2.0 and 3.0. Read-modify-writes are relaxed ones of PTX with the fences
// that their order asks for.
static void BUILT_IN order_fence(memory_order order, memory_scope scope) {
  if (order == memory_order_relaxed) return;
  if (scope == memory_scope_work_item || scope == memory_scope_work_group) __nvvm_membar_cta();
  else if (scope == memory_scope_all_svm_devices) __nvvm_membar_sys();
  else __nvvm_membar_gl();
}
static void BUILT_IN fence_before(memory_order order, memory_scope scope) {
  if (order != memory_order_acquire) order_fence(order, scope);
}
static void BUILT_IN fence_behind(memory_order order, memory_scope scope) {
  if (order != memory_order_release) order_fence(order, scope);
}

void BUILT_IN atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                     memory_scope scope) {
  order_fence(order, scope);
}

#define RELAXED memory_order_relaxed, memory_scope_device
#define ALL_SPACES(what, ...) \
  what(global, __VA_ARGS__) what(local, __VA_ARGS__) what(generic, __VA_ARGS__)

// name(p, value), name_explicit(p, value, order), name_explicit(p, value, order, scope)
#define CHANGE(space, name, operation, type) \
  type BUILT_IN name##_explicit(volatile space atomic_##type *p, type value, memory_order order, \
                                memory_scope scope) { \
    fence_before(order, scope); \
    type was = operation(p, value, RELAXED); \
    fence_behind(order, scope); \
    return was; \
  } \
  type BUILT_IN name##_explicit(volatile space atomic_##type *p, type value, memory_order order) { \
    return name##_explicit(p, value, order, memory_scope_device); \
  } \
  type BUILT_IN name(volatile space atomic_##type *p, type value) { \
    return name##_explicit(p, value, memory_order_seq_cst, memory_scope_device); \
  }

#define COMPARE(space, name, type, expected_space) \
  bool BUILT_IN name##_explicit(volatile space atomic_##type *p, expected_space type *expected, \
                                type value, memory_order order, memory_order failed, \
                                memory_scope scope) { \
    type was = *expected; \
    fence_before(order, scope); \
    bool same = __opencl_atomic_compare_exchange_strong( \
        p, &was, value, memory_order_relaxed, memory_order_relaxed, memory_scope_device); \
    fence_behind(order, scope); \
    if (!same) *expected = was; \
    return same; \
  } \
  bool BUILT_IN name##_explicit(volatile space atomic_##type *p, expected_space type *expected, \
                                type value, memory_order order, memory_order failed) { \
    return name##_explicit(p, expected, value, order, failed, memory_scope_device); \
  } \
  bool BUILT_IN name(volatile space atomic_##type *p, expected_space type *expected, type value) { \
    return name##_explicit(p, expected, value, memory_order_seq_cst, memory_order_seq_cst, \
                           memory_scope_device); \
  }

#define MOVE(space, type) \
  void BUILT_IN atomic_init(volatile space atomic_##type *p, type value) { \
    *(volatile space type *)p = value; \
  } \
  void BUILT_IN atomic_store_explicit(volatile space atomic_##type *p, type value, \
                                      memory_order order, memory_scope scope) { \
    order_fence(order, scope); \
    __opencl_atomic_store(p, value, RELAXED); \
    if (order == memory_order_seq_cst) order_fence(order, scope); \
  } \
  void BUILT_IN atomic_store_explicit(volatile space atomic_##type *p, type value, \
                                      memory_order order) { \
    atomic_store_explicit(p, value, order, memory_scope_device); \
  } \
  void BUILT_IN atomic_store(volatile space atomic_##type *p, type value) { \
    atomic_store_explicit(p, value, memory_order_seq_cst, memory_scope_device); \
  } \
  type BUILT_IN atomic_load_explicit(volatile space atomic_##type *p, memory_order order, \
                                     memory_scope scope) { \
    if (order == memory_order_seq_cst) order_fence(order, scope); \
    type value = __opencl_atomic_load(p, RELAXED); \
    order_fence(order, scope); \
    return value; \
  } \
  type BUILT_IN atomic_load_explicit(volatile space atomic_##type *p, memory_order order) { \
    return atomic_load_explicit(p, order, memory_scope_device); \
  } \
  type BUILT_IN atomic_load(volatile space atomic_##type *p) { \
    return atomic_load_explicit(p, memory_order_seq_cst, memory_scope_device); \
  } \
  CHANGE(space, atomic_exchange, __opencl_atomic_exchange, type)

#define COMPARES(space, type) \
  COMPARE(space, atomic_compare_exchange_strong, type, private) \
  COMPARE(space, atomic_compare_exchange_weak, type, private) \
  COMPARE(space, atomic_compare_exchange_strong, type, global) \
  COMPARE(space, atomic_compare_exchange_weak, type, global) \
  COMPARE(space, atomic_compare_exchange_strong, type, local) \
  COMPARE(space, atomic_compare_exchange_weak, type, local)

#define INTEGER(space, type) \
  MOVE(space, type) \
  COMPARES(space, type) \
  CHANGE(space, atomic_fetch_add, __opencl_atomic_fetch_add, type) \
  CHANGE(space, atomic_fetch_sub, __opencl_atomic_fetch_sub, type) \
  CHANGE(space, atomic_fetch_or, __opencl_atomic_fetch_or, type) \
  CHANGE(space, atomic_fetch_xor, __opencl_atomic_fetch_xor, type) \
  CHANGE(space, atomic_fetch_and, __opencl_atomic_fetch_and, type) \
  CHANGE(space, atomic_fetch_min, __opencl_atomic_fetch_min, type) \
  CHANGE(space, atomic_fetch_max, __opencl_atomic_fetch_max, type)

ALL_SPACES(INTEGER, int)
ALL_SPACES(INTEGER, uint)
ALL_SPACES(INTEGER, long)
ALL_SPACES(INTEGER, ulong)
ALL_SPACES(MOVE, float)
ALL_SPACES(COMPARES, float)
ALL_SPACES(MOVE, double)
ALL_SPACES(COMPARES, double)

// atomic_uintptr_t and ptrdiff_t
#define ADDRESS(space, name) \
  ulong BUILT_IN name##_explicit(volatile space atomic_ulong *p, long value, memory_order order, \
                                 memory_scope scope) { \
    return name##_explicit(p, (ulong)value, order, scope); \
  } \
  ulong BUILT_IN name##_explicit(volatile space atomic_ulong *p, long value, memory_order order) { \
    return name##_explicit(p, (ulong)value, order); \
  } \
  ulong BUILT_IN name(volatile space atomic_ulong *p, long value) { return name(p, (ulong)value); }
ALL_SPACES(ADDRESS, atomic_fetch_add)
ALL_SPACES(ADDRESS, atomic_fetch_sub)

#define FLAG(space, unused) \
  bool BUILT_IN atomic_flag_test_and_set_explicit(volatile space atomic_flag *p, \
                                                  memory_order order, memory_scope scope) { \
    return atomic_exchange_explicit((volatile space atomic_int *)p, 1, order, scope); \
  } \
  bool BUILT_IN atomic_flag_test_and_set_explicit(volatile space atomic_flag *p, \
                                                  memory_order order) { \
    return atomic_flag_test_and_set_explicit(p, order, memory_scope_device); \
  } \
  bool BUILT_IN atomic_flag_test_and_set(volatile space atomic_flag *p) { \
    return atomic_flag_test_and_set_explicit(p, memory_order_seq_cst, memory_scope_device); \
  } \
  void BUILT_IN atomic_flag_clear_explicit(volatile space atomic_flag *p, memory_order order, \
                                           memory_scope scope) { \
    atomic_store_explicit((volatile space atomic_int *)p, 0, order, scope); \
  } \
  void BUILT_IN atomic_flag_clear_explicit(volatile space atomic_flag *p, memory_order order) { \
    atomic_flag_clear_explicit(p, order, memory_scope_device); \
  } \
  void BUILT_IN atomic_flag_clear(volatile space atomic_flag *p) { \
    atomic_flag_clear_explicit(p, memory_order_seq_cst, memory_scope_device); \
  }
ALL_SPACES(FLAG, )
