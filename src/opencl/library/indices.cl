// Where the compiler tests indices of arrays (compiler.c): a move into a register whose name the
// tools know.
void __attribute__((always_inline)) __ubsan_handle_out_of_bounds(void *unused, ulong index) {
  __asm__ volatile("{\n\t.reg .b64 wg_index_outside;\n\tmov.b64 wg_index_outside, %0;\n\t}" ::"l"(
      index));
}
