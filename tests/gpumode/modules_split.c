// Cuts PTX into pieces (src/gpu/modules/split.c): with a file and a folder, writes each piece there
// and lists what is in it; without, checks small texts whose pieces are known.
#include "gpu/modules/modules.h"

static int failures;

// "a b | c v" in any order of pieces: kernels and variables that belong together.
static void pieces_of(const char *text, Str *out) {
  GpuSplit *s = gpu_split(text, strlen(text));
  if (gpu_split_failed(s)) str_printf(out, "line %u", gpu_split_failed(s));
  for (uint32_t i = 0; i < gpu_split_count(s); i++) {
    uint32_t it = 0, piece;
    const char *name;
    bool is_kernel, first = true;
    if (i) str_add(out, " | ");
    for (int kernels = 1; kernels >= 0; kernels--)
      for (it = 0; gpu_split_next(s, &it, &name, &is_kernel, &piece);)
        if (piece == i && is_kernel == (kernels == 1)) {
          str_printf(out, "%s%s", first ? "" : " ", name);
          first = false;
        }
  }
  gpu_split_free(s);
}

static void expect(const char *what, const char *text, const char *pieces) {
  Str got = {0};
  pieces_of(text, &got);
  bool same = !strcmp(got.data ? got.data : "", pieces);
  printf("%s %s\n", same ? "ok" : "FAIL", what);
  if (!same) {
    printf("    pieces: %s\n    wanted: %s\n", got.data ? got.data : "", pieces);
    failures++;
  }
  str_free(&got);
}

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static void small_texts(void) {
  expect("two kernels with nothing in common",
         HEAD ".visible .entry a(){ ret; }\n.visible .entry b(){ ret; }", "a | b");
  expect("a shared variable",
         HEAD ".global .u32 v;\n.entry a(){ .reg .u32 %r; ld.global.u32 %r, [v]; ret; }\n.entry "
              "b(){ ret; }\n"
              ".entry c(){ st.global.u32 [v], 1; ret; }",
         "a c v | b");
  expect("a variable through a function",
         HEAD ".const .u32 v;\n.func f;\n.func f(){ .reg .u32 %r; ld.const.u32 %r, [v]; ret; }\n"
              ".entry a(){ call f; ret; }\n.entry b(){ call.uni f, (); ret; }\n.entry c(){ ret; }",
         "a b v | c");
  expect("a variable through an initializer",
         HEAD ".global .u32 v;\n.global .u64 p[2] = {0, generic(v)};\n"
              ".entry a(){ .reg .u64 %r; ld.global.u64 %r, [p+8]; ret; }\n.entry b(){ "
              "st.global.u32 [v], 1; ret; }",
         "a b v p");
  expect("strings are copied",
         HEAD ".global .align 1 .b8 $str[3] = {65, 66, 0};\n.entry a(){ .reg .u64 %r; mov.u64 %r, "
              "$str; ret; }\n"
              ".entry b(){ .reg .u64 %r; mov.u64 %r, $str; ret; }",
         "a | b");
  expect("shared memory is a kernel's own",
         HEAD ".extern .shared .align 16 .b8 s[];\n.entry a(){ st.shared.u32 [s], 1; ret; }\n"
              ".entry b(){ st.shared.u32 [s], 1; ret; }",
         "a | b");
  expect("function pointers",
         HEAD ".func f(){ ret; }\n.global .u64 t[1] = {f};\n.entry a(){ .reg .u64 %r; mov.u64 %r, "
              "t; ret; }\n"
              ".entry b(){ .reg .u64 %r; p: .callprototype _(); call %r, (), p; ret; }\n.entry "
              "c(){ call f; ret; }",
         "a b t | c");
  expect("comments and strings hide nothing",
         HEAD ".global .u32 v; // .entry x(){\n/* .entry y(){ } */\n.file 1 \"a{.cu\"\n"
              ".entry a(){ // v }\n .pragma \"nounroll {\"; ret; }\n.entry b(){ /* } */ "
              "st.global.u32 [v], 1; ret; }",
         "a | b v");
  expect("debug code is one piece",
         ".version 8.0\n.target sm_80, debug\n.address_size 64\n.entry a(){ ret; }\n.entry b(){ "
         "ret; }\n"
         ".section .debug_info { .b32 1 }\n",
         "a b");
  expect("several variables in one line",
         HEAD ".global .u32 v, w = 3;\n.entry a(){ st.global.u32 [w], 1; ret; }\n"
              ".entry b(){ st.global.u32 [v], 1; ret; }",
         "a b v w");
  expect("a static variable in a function",
         HEAD
         ".func f(){ .global .u32 n; st.global.u32 [n], 1; ret; }\n.entry a(){ call f; ret; }\n"
         ".entry b(){ call f; ret; }",
         "a b");
  expect("what is not PTX", HEAD "\n.entry a(){ ret; }\nhello\n", "line 6");
  expect("a body without an end", HEAD ".entry a(){ ret; ", "line 4");
  expect("nothing", "", "");
}

// Text that ends anywhere, with nothing readable behind it, or has any character changed.
static void damaged_texts(void) {
  static const char text[] = HEAD
      ".file 1 \"a.cu\"\n.global .u32 v = {1}, w;\n.extern .func (.param .b32 r) f (.param .b32 "
      "x)\n;\n"
      ".visible .entry a(.param .u64 p) .maxntid 1, 1, 1 { .loc 1 2 3, function_name $L1, "
      "inlined_at 1 2 3\n call (r), f, (x); /* { */ ret; } // }\n"
      ".alias g, f;\n.section .debug_str {\n$L1:\n.b8 1\n$L2:\n.b8 2\n}\n.pragma \"x\";\n";
  static const char characters[] = "{}();.:\"/*= \n,x";
  uint32_t pieces = 0;
  for (size_t n = 0; n < sizeof text; n++)
    for (size_t k = 0; k < sizeof characters; k++) {
      char *copy = mem_alloc(n + 1);
      memcpy(copy, text, n);
      if (k && n) copy[(n * 7919 + k * 31) % n] = characters[k - 1];
      char *exact = malloc(n ? n : 1);
      memcpy(exact, copy, n);
      GpuSplit *s = gpu_split(exact, n);
      for (uint32_t i = 0; i < gpu_split_count(s); i++) {
        Str piece = {0};
        gpu_split_text(s, i, &piece);
        pieces += piece.len > 0;
        str_free(&piece);
      }
      gpu_split_free(s);
      free(exact);
      free(copy);
    }
  printf("%s damaged texts\n", pieces ? "ok" : "FAIL");
}

int main(int argc, char **argv) {
  if (argc < 3) {
    small_texts();
    damaged_texts();
    return failures != 0;
  }
  Str text = {0};
  Error err;
  if (!file_read(argv[1], &text, &err)) {
    puts(err.text);
    return 1;
  }
  GpuSplit *s = gpu_split(text.data, text.len);
  if (gpu_split_failed(s)) {
    printf("%s: line %u\n", argv[1], gpu_split_failed(s));
    return 1;
  }
  for (uint32_t i = 0; i < gpu_split_count(s); i++) {
    Str piece = {0};
    char path[4096];
    gpu_split_text(s, i, &piece);
    snprintf(path, sizeof path, "%s/%u.ptx", argv[2], i);
    if (!file_write(path, piece.data, piece.len, &err)) {
      puts(err.text);
      return 1;
    }
    str_free(&piece);
  }
  return 0;
}
