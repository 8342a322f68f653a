// Tests of indices that clang puts into a program (compiler.c), in LLVM assembly:
//     br i1 %17, label %20, label %18, !dbg !73, !prof !75, !nosanitize !74
//   18:
//     %19 = zext i32 %15 to i64
//     call void @__ubsan_handle_out_of_bounds(ptr @2, i64 %19) #3, !dbg !73, !nosanitize !74
//     br label %20
// Such a block at every index keeps clang from moving instructions together and from unrolling
// loops. So every test becomes one instruction of PTX with a guard, a move into a register whose
// name the tools know, and all threads go through the block:
//     br label %18, !dbg !73
//   18:
//     %19 = zext i32 %15 to i64
//     call void asm sideeffect "@!$0 mov.b64 wg_index_outside, $1;", "b,l"(i1 %17, i64 %19) …
//     br label %20
#define _GNU_SOURCE

#include "opencl/opencl.h"

static const char handler[] = "@__ubsan_handle_out_of_bounds(", branch[] = "  br i1 ";

// A piece of a line.
typedef struct Piece {
  const char *at;
  int len;
} Piece;

static Piece up_to(const char *at, const char *ends) { return (Piece){at, (int)strcspn(at, ends)}; }

static Piece line_at(const char *at) { return up_to(at, "\n"); }

static const char *find(Piece in, const char *text) {
  return memmem(in.at, (size_t)in.len, text, strlen(text));
}

static bool is_call(Piece line) {
  return find(line, handler) && (find(line, "call void ") == line.at + 2);
}

// The label after occurrence `n` of " label %", counted from 0.
static Piece label_of(Piece line, unsigned n) {
  const char *at = line.at;
  do {
    at = find((Piece){at, line.len - (int)(at - line.at)}, " label %");
    if (!at) return (Piece){line.at, 0};
    at += strlen(" label %");
  } while (n--);
  return up_to(at, ", \n");
}

// Does this block, which begins at the next line, call the handler?
static bool is_handler(const char *next, Piece label) {
  while (*next == '\n') next++;
  if (!label.len || strncmp(next, label.at, (size_t)label.len) || next[label.len] != ':')
    return false;
  for (Piece line = line_at(next); line.len; line = line_at(line.at + line.len + 1)) {
    if (is_call(line)) return true;
    if (!line.at[line.len]) break;
  }
  return false;
}

static void add_piece(Str *out, Piece p) { str_addn(out, p.at, (size_t)p.len); }

// The metadata at the end of a line, from ", !dbg" on.
static void add_place(Str *out, Piece line) {
  const char *dbg = find(line, ", !dbg ");
  if (dbg) str_printf(out, ", !dbg %.*s", (int)strcspn(dbg + 7, ",\n"), dbg + 7);
  str_addc(out, '\n');
}

// The index is the last argument.
static Piece index_of(Piece line) {
  const char *from = find(line, handler), *last = from;
  for (const char *at = from; at;) {
    at = find((Piece){at, line.len - (int)(at - line.at)}, " i64 ");
    if (at) last = at += strlen(" i64 ");
  }
  if (!strncmp(last, "noundef ", 8)) last += 8;
  return up_to(last, ")\n");
}

static void add_test(Str *out, Piece line, Piece inside) {
  Piece index = index_of(line);
  str_add(out, "  call void asm sideeffect \"{\\0A\\09.reg .b64 wg_index_outside;\\0A\\09"
               "@!$0 mov.b64 wg_index_outside, $1;\\0A\\09}\", \"b,l\"(i1 ");
  add_piece(out, inside);
  str_add(out, ", i64 ");
  add_piece(out, index);
  // the instruction accesses no memory, so clang may move loads and stores across it
  str_add(out, ") nounwind readnone");
  add_place(out, line);
}

void ocl_straighten_index_tests(const char *assembly, Str *out) {
  static const Piece always_outside = {"false", 5};
  Piece inside = always_outside;
  for (const char *at = assembly; *at;) {
    Piece line = line_at(at), label = label_of(line, 1);
    at += line.len + (at[line.len] == '\n');
    if (!strncmp(line.at, branch, strlen(branch)) && is_handler(at, label)) {
      inside = up_to(line.at + strlen(branch), ",");
      str_add(out, "  br label %");
      add_piece(out, label);
      add_place(out, line);
    } else if (is_call(line)) {
      add_test(out, line, inside);
      inside = always_outside;
    } else {
      add_piece(out, line);
      str_addc(out, '\n');
    }
  }
}
