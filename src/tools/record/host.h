// record inside the program: what its host*.c files share.
//
// Two ways to record, never both: --record (the tool `record`) keeps every memory operation of
// instrumented kernels; --record=inputs keeps what memory holds before each launch, with kernels
// unchanged. In both, launches, copies and sets are steps: numbered in the order in which the
// program asks for them.
#ifndef WG_TOOLS_RECORD_HOST_H
#define WG_TOOLS_RECORD_HOST_H

#include "session/order.h"
#include "probe/trace_abi.h"
#include "tools/record/kernel.h"
#include "tools/tool.h"

// --- host.c: options ---
typedef struct RecordOptions {
  bool operations;       // --record, --tool=record
  bool marked;           // --record=marked: only between wg_record_begin and wg_record_end
  const char *threads;   // --threads; NULL: all
  const char *buffers;   // --buffer; NULL: all
  bool inputs;           // --record=inputs
  uint64_t inputs_rate;  // MB a second of memory written by launches
} RecordOptions;
enum { RECORD_RATE_UNLIMITED = 1000000 };  // of inputs_rate
extern RecordOptions record_options;       // set before any other function of the tool is called

const RecordKernel *record_kernel(const WovenKernel *code);  // never NULL

// --- host_rings.c: the rings of a context that kernels write their operations into ---
typedef struct RecordRings {
  ChannelTrace rings;
  uint64_t memory;  // device memory: a WgTrace and the heads
  WgTrace trace;
  uint32_t generation;       // of the process: a forked child must not use them
  uint32_t buffers_version;  // of record_buffers_version, as the device knows them
  bool open, failed;
} RecordRings;
bool record_launch(ToolDevice *d, ToolLaunch *l);
void record_launches_ended(ToolDevice *d, const uint64_t *launches, uint32_t n);
void record_device_close(ToolDevice *d, bool alive);
void record_switch(bool on);  // wg_record_begin, wg_record_end

// --- host_chosen_buffers.c: --buffer ---
void record_buffer_allocated(uint64_t base, uint64_t size, const char *name);
void record_buffer_freed(uint64_t base, bool in_order);
void record_buffers_choose(WgTrace *t);  // fills in the buffers that are recorded
// changes whenever other buffers are chosen; 0: all are recorded
uint32_t record_buffers_version(void);

// --- host_constant_loads.c: loads whose values need not be recorded ---
// bit i: values that are loaded through RecordKernel.reads[i] are recorded
uint32_t record_loaded_values(const WovenKernel *code, const SessionParams *params);
void record_unknown_contents(void);  // something wrote to device memory that is not recorded

// --- host_tensor_maps.c ---
// describes the kernel's maps in its launch record; false: one is not known
bool record_describe_maps(const RecordKernel *k, const SessionParams *params, void *record);

// --- host_steps.c ---
// How much of a launch is recorded, as in the run file. BUFFERS: only accesses to the buffers that
// --buffer names.
typedef enum { RECORDED_IN_PART, RECORDED_ALL, RECORDED_BUFFERS } Recorded;
void record_set_extent(uint32_t launch, Recorded extent);  // of the calling thread's last launch
void record_captured_launch(ToolDevice *d, ToolLaunch *l);
void record_launch_taken(const SessionCall *c);
void record_launch_ran(uint32_t launch, const SessionTimes *t);
void record_variable_loaded(const SessionVariable *v);
void record_interrupt_served(const SessionInterrupt *i);       // host_interrupts.c
void record_library_asked(LibraryCall *c, SessionDevice *on);  // host_library_calls.c
void record_library_ran(const LibraryCall *c);
void record_library_done(const LibraryCall *c);
uint32_t record_copy_number(const SessionCopy *c);
void record_copy_taken(const SessionCopy *c);
void record_copy_contents(const SessionCopy *c);
void record_copied_rows(const SessionCopy *c);  // sends the bytes of a copy from the host
uint32_t record_new_step(void);
uint32_t record_last_step(void);
void record_inputs_told(const SessionInputs *in);

// --- host_step_order.c: which steps a step comes after ---
void record_order_step(uint32_t step, const void *stream, StepHow how);  // before its event
void record_graph_begin(const SessionBranches *b, uint32_t nodes, const void *stream);
void record_graph_node(uint32_t place);
void record_graph_end(void);

// --- host_inputs.c: --record=inputs, which memory may have changed before a launch ---
SessionInputs *record_inputs(const SessionCall *c);
void record_inputs_launch_taken(void);
void record_inputs_copy_asked(const SessionCopy *c);
bool record_inputs_reads_source(const SessionCopy *c);
void record_inputs_copy_contents(const SessionCopy *c);  // one with on_host, when it has been made
void record_unknown_writes(const void *stream);

// --- host_input_pages.c: the pages that have changed ---
void record_inputs_ready(const SessionInputs *in, SessionIsThere *is_there);
// keeps the bytes that a copy wrote to this part
void record_keep_copied(const SessionCopy *c, const SessionPart *part);

// --- host_module_code.c: the PTX of modules; of --record, of launched kernels only ---
bool record_wants_code(const SessionModule *m);
void record_code(const SessionModule *m, const SessionCode *units, uint32_t n);
void record_kernel_launched(const SessionCall *c);  // sends its PTX the first time

// --- host_natives.c: tools/record/probe.c in C, for the virtual device ---
void record_add_natives(void);

#endif
