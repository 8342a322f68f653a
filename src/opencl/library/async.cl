// async_work_group_copy, async_work_group_strided_copy, wait_group_events.
//
// Each work-item copies its neighbour's elements; OpenCL leaves open who copies which. So an access
// that is unordered with the copy conflicts with another work-item, and the tools report a race. A
// copy begins with a barrier that orders no memory: all work-items must reach it. The tools know
// these registers by name; ptxas drops the moves into them:
//   wg_group_call    the arguments in one number: the same for all work-items of the group
//   wg_group_event   an event that is waited for; 0: no copy returned it
//   wg_group_copy    1: a copy has begun; 0: copies were waited for
#define GROUP_MIX(a, b) (((a) ^ (a) >> 29) * 0x9e3779b97f4a7c15ul + (b))
#define GROUP_CALL(arguments) \
  __asm__ volatile("{\n\t.reg .b64 wg_group_call;\n\tmov.b64 wg_group_call, %0;\n\t" \
                   ".reg .b32 wg_barrier_orders;\n\tmov.b32 wg_barrier_orders, 0;\n\t" \
                   "bar.sync 0;\n\t}" ::"l"(arguments) : "memory")
#define GROUP_COPIES(some) \
  __asm__ volatile("{\n\t.reg .b32 wg_group_copy;\n\tmov.b32 wg_group_copy, " #some ";\n\t}" ::: \
                   "memory")

static ulong BUILT_IN event_number(event_t event) { return *(private ulong *)&event; }

// An event that differs from those of copies to other destinations.
static event_t BUILT_IN event_of_copy(ulong to, event_t given) {
  ulong number = event_number(given);
  if (!number) number = to | 1ul << 62;
  event_t event;
  *(private ulong *)&event = number;
  return event;
}

static void BUILT_IN begin_copy(ulong to, ulong from, ulong n, event_t event) {
  ulong arguments = GROUP_MIX(GROUP_MIX(GROUP_MIX(to, from), n), event_number(event));
  GROUP_CALL(arguments);
  GROUP_COPIES(1);
}

// A work-item that passes another number of elements makes a mistake; it copies as many as the
// first of its warp, because the group makes one copy. All lanes take part: begin_copy has a
// barrier.
static size_t BUILT_IN elements_of_first(size_t n) {
  size_t first;
  __asm__ volatile("{\n\t.reg .b32 low, high, wg_barrier_orders;\n\tmov.b64 {low, high}, %1;\n\t"
                   "mov.b32 wg_barrier_orders, 0;\n\t"
                   "shfl.sync.idx.b32 low, low, 0, 31, -1;\n\t"
                   "mov.b32 wg_barrier_orders, 0;\n\t"
                   "shfl.sync.idx.b32 high, high, 0, 31, -1;\n\t"
                   "mov.b64 %0, {low, high};\n\t}" : "=l"(first) : "l"(n) : "memory");
  return first;
}

static ulong BUILT_IN first_to_copy(void) {
  ulong own = get_local_linear_id(), neighbour = own ^ 1;
  ulong size = get_local_size(0) * get_local_size(1) * get_local_size(2);
  return neighbour < size ? neighbour : own;
}

#define COPY(type, to_space, from_space) \
  event_t BUILT_IN async_work_group_copy(to_space type *to, const from_space type *from, size_t n, \
                                         event_t event) { \
    size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2); \
    begin_copy((ulong)to, (ulong)from, n, event); \
    n = elements_of_first(n); \
    for (size_t i = first_to_copy(); i < n; i += size) to[i] = from[i]; \
    return event_of_copy((ulong)to, event); \
  }
#define STRIDED_COPY(type, to_space, from_space, to_stride, from_stride) \
  event_t BUILT_IN async_work_group_strided_copy(to_space type *to, const from_space type *from, \
                                                 size_t n, size_t stride, event_t event) { \
    size_t size = get_local_size(0) * get_local_size(1) * get_local_size(2); \
    begin_copy((ulong)to, (ulong)from, GROUP_MIX(n, stride), event); \
    n = elements_of_first(n); \
    for (size_t i = first_to_copy(); i < n; i += size) \
      to[i * (to_stride)] = from[i * (from_stride)]; \
    return event_of_copy((ulong)to, event); \
  }
#define COPIES(type) \
  COPY(type, local, global) \
  COPY(type, global, local) \
  STRIDED_COPY(type, local, global, 1, stride) \
  STRIDED_COPY(type, global, local, stride, 1)
ALL_WIDTHS(COPIES, char)
ALL_WIDTHS(COPIES, uchar)
ALL_WIDTHS(COPIES, short)
ALL_WIDTHS(COPIES, ushort)
ALL_WIDTHS(COPIES, int)
ALL_WIDTHS(COPIES, uint)
ALL_WIDTHS(COPIES, long)
ALL_WIDTHS(COPIES, ulong)
ALL_WIDTHS(COPIES, float)
ALL_WIDTHS(COPIES, double)

#define WAIT(space) \
  void BUILT_IN wait_group_events(int n, space event_t *events) { \
    ulong all = (ulong)n; \
    for (int i = 0; i < n; i++) { \
      ulong number = event_number(events[i]); \
      __asm__ volatile("{\n\t.reg .b64 wg_group_event;\n\tmov.b64 wg_group_event, %0;\n\t}" ::"l"( \
          number) : "memory"); \
      all = GROUP_MIX(all, number); \
    } \
    __asm__ volatile("{\n\t.reg .b64 wg_group_call;\n\tmov.b64 wg_group_call, %0;\n\t}" ::"l"(all) \
                     : "memory"); \
    __asm__ volatile("bar.sync 0;" ::: "memory"); \
    GROUP_COPIES(0); \
  }
WAIT(private)

// A hint: nothing to do. libclc (19) has it for other vectors.
#define PREFETCH_NOTHING(type) void BUILT_IN prefetch(const global type *p, size_t n) {}
PREFETCH_NOTHING(char3)
PREFETCH_NOTHING(uchar3)
PREFETCH_NOTHING(short3)
PREFETCH_NOTHING(ushort3)
PREFETCH_NOTHING(int3)
PREFETCH_NOTHING(uint3)
PREFETCH_NOTHING(long3)
PREFETCH_NOTHING(ulong3)
PREFETCH_NOTHING(float3)
PREFETCH_NOTHING(double3)
