// The kernels of --calibrate, as PTX: each keeps one part of the GPU busy.
#include "tools/profile/report_calibrate.h"

enum { CHAINS = 8 };  // instructions that do not wait for each other

static const char head[] = ".version 6.0\n.target sm_70\n.address_size 64\n";

// Parameters: where to store a result, so that the compiler keeps all code, and the iterations of
// the loop.
static void begin(Str *s, const char *name) {
  str_printf(s,
             ".visible .entry %s(.param .u64 to, .param .u32 turns) {\n"
             ".reg .pred %%p; .reg .u32 %%r<40>; .reg .f32 %%f<16>; .reg .u64 %%d<8>;\n"
             "ld.param.u64 %%d0, [to];\nld.param.u32 %%r0, [turns];\n"
             "mov.u32 %%r1, %%tid.x;\ncvt.rn.f32.u32 %%f0, %%r1;\n",
             name);
  for (int i = 1; i < CHAINS; i++) str_printf(s, "add.f32 %%f%d, %%f%d, %%f0;\n", i, i - 1);
  for (int i = 2; i < CHAINS + 2; i++) str_printf(s, "add.u32 %%r%d, %%r1, %d;\n", i, i);
}

static void end(Str *s) {
  str_add(s, "sub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p, %r0, 0;\n@%p bra again;\n");
  for (int i = 1; i < CHAINS; i++) str_printf(s, "add.f32 %%f0, %%f0, %%f%d;\n", i);
  for (int i = 3; i < CHAINS + 2; i++) str_printf(s, "xor.b32 %%r2, %%r2, %%r%d;\n", i);
  str_add(s, "cvt.rzi.u32.f32 %r1, %f0;\nxor.b32 %r2, %r2, %r1;\nsetp.eq.u32 %p, %r2, 12345;\n"
             "@%p st.global.u32 [%d0], %r2;\nret;\n}\n");
}

static void add_floats(Str *s) {
  begin(s, "floats");
  str_add(s, "again:\n");
  for (int i = 0; i < CALIBRATE_UNROLLED; i++)
    str_printf(s, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", i % CHAINS, i % CHAINS, i % CHAINS,
               i % CHAINS);
  end(s);
}

// Alternates between two pipes, so that neither limits how many instructions are issued.
static void add_issue(Str *s) {
  begin(s, "issue");
  str_add(s, "again:\n");
  for (int i = 0; i < CALIBRATE_UNROLLED; i++) {
    int a = i / 2 % CHAINS;
    if (i % 2) str_printf(s, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", a, a, a, a);
    else str_printf(s, "add.u32 %%r%d, %%r%d, %%r%d;\n", 2 + a, 2 + a, 2 + (a + 3) % CHAINS);
  }
  end(s);
}

static void add_shared(Str *s) {
  begin(s, "shared");
  str_add(s, ".shared .align 16 .b8 tile[32768];\nmov.u32 %r30, tile;\nshl.b32 %r31, %r1, 2;\n"
             "and.b32 %r31, %r31, 4095;\nadd.u32 %r30, %r30, %r31;\nagain:\n");
  for (int i = 0; i < CALIBRATE_LOADS; i++)
    str_printf(s,
               "ld.volatile.shared.u32 %%r32, [%%r30+%d];\n"
               "xor.b32 %%r%d, %%r%d, %%r32;\n",  // ptxas removes loads that nothing uses
               i * 128, 2 + i % CHAINS, 2 + i % CHAINS);
  end(s);
}

// One lane of each warp adds to one address.
static void add_atomics(Str *s) {
  begin(s, "atomics");
  str_add(s, "and.b32 %r30, %r1, 31;\nsetp.ne.u32 %p, %r30, 0;\n@%p ret;\nagain:\n"
             "red.global.add.u32 [%d0], 1;\n");
  end(s);
}

// Copies 16 bytes at a time; turns: copies of each thread, a whole grid apart.
static void add_memory(Str *s) {
  begin(s, "memory");
  str_add(s, "mov.u32 %r30, %ctaid.x;\nmov.u32 %r31, %ntid.x;\nmad.lo.u32 %r30, %r30, %r31, %r1;\n"
             "mul.wide.u32 %d1, %r30, 16;\nadd.u64 %d2, %d0, %d1;\nmov.u32 %r32, %nctaid.x;\n"
             "mul.lo.u32 %r32, %r32, %r31;\nmul.wide.u32 %d3, %r32, 16;\n"
             "cvt.u64.u32 %d4, %r0;\nmul.lo.u64 %d4, %d4, %d3;\nadd.u64 %d4, %d2, %d4;\nagain:\n"
             "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d2];\n"
             "st.global.v4.u32 [%d4], {%r20, %r21, %r22, %r23};\n"
             "add.u64 %d2, %d2, %d3;\nadd.u64 %d4, %d4, %d3;\n");
  end(s);
}

static void add_nothing(Str *s) { str_add(s, ".visible .entry nothing() {\nret;\n}\n"); }

void calibrate_code(Str *out) {
  str_add(out, head);
  add_floats(out);
  add_issue(out);
  add_shared(out);
  add_atomics(out);
  add_memory(out);
  add_nothing(out);
}
