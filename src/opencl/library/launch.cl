// Ids and sizes of the NDRange, from the hidden last parameter of every kernel (OclLaunch in
// ../opencl.h): the assembler text names it, and fit.c declares it.
#define LAUNCH_WORD(at) \
  ({ \
    ulong word_; \
    __asm__("ld.param.u64 %0, [__wgcl_launch+" #at "];" : "=l"(word_)); \
    word_; \
  })
#define LAUNCH_PICK(d, x, y, z, otherwise) \
  ((d) == 0 ? LAUNCH_WORD(x) : (d) == 1 ? LAUNCH_WORD(y) : (d) == 2 ? LAUNCH_WORD(z) : (otherwise))
#define BUILT_IN __attribute__((overloadable, always_inline))
#define ALL_WIDTHS(what, type) \
  what(type) what(type##2) what(type##3) what(type##4) what(type##8) what(type##16)

uint BUILT_IN get_work_dim(void) {
  uint n;
  __asm__("ld.param.u32 %0, [__wgcl_launch];" : "=r"(n));
  return n;
}
size_t BUILT_IN get_global_offset(uint d) { return LAUNCH_PICK(d, 32, 40, 48, 0); }
size_t BUILT_IN get_global_size(uint d) { return LAUNCH_PICK(d, 56, 64, 72, 1); }
size_t BUILT_IN get_enqueued_local_size(uint d) { return LAUNCH_PICK(d, 80, 88, 96, 1); }
size_t BUILT_IN get_num_groups(uint d) { return LAUNCH_PICK(d, 128, 136, 144, 1); }

size_t BUILT_IN get_local_id(uint d) {
  return d == 0   ? __nvvm_read_ptx_sreg_tid_x()
         : d == 1 ? __nvvm_read_ptx_sreg_tid_y()
         : d == 2 ? __nvvm_read_ptx_sreg_tid_z()
                  : 0;
}
size_t BUILT_IN get_local_size(uint d) {
  return d == 0   ? __nvvm_read_ptx_sreg_ntid_x()
         : d == 1 ? __nvvm_read_ptx_sreg_ntid_y()
         : d == 2 ? __nvvm_read_ptx_sreg_ntid_z()
                  : 1;
}
static size_t BUILT_IN launch_group(uint d) {
  return d == 0   ? __nvvm_read_ptx_sreg_ctaid_x()
         : d == 1 ? __nvvm_read_ptx_sreg_ctaid_y()
         : d == 2 ? __nvvm_read_ptx_sreg_ctaid_z()
                  : 0;
}
size_t BUILT_IN get_group_id(uint d) {
  return LAUNCH_PICK(d, 104, 112, 120, 0) + launch_group(d);
}
// first_item is the global id of the first work-item of this launch
size_t BUILT_IN get_global_id(uint d) {
  return LAUNCH_PICK(d, 8, 16, 24, 0) + launch_group(d) * get_local_size(d) + get_local_id(d);
}
size_t BUILT_IN get_local_linear_id(void) {
  return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
         get_local_id(0);
}
size_t BUILT_IN get_global_linear_id(void) {
  return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) -
          get_global_offset(1)) *
             get_global_size(0) +
         get_global_id(0) - get_global_offset(0);
}
