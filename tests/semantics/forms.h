// The forms of the arithmetic family, expanded from forms.def, with their operands and input
// values.
#ifndef SEMANTICS_FORMS_H
#define SEMANTICS_FORMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_OPERANDS = 16, ROW_WORD = 8, MAX_ROWS = 65536 };

typedef enum {
  VALUE_INT,
  VALUE_F16,
  VALUE_BF16,
  VALUE_F32,
  VALUE_F64,
  VALUE_F16X2,
  VALUE_BF16X2,
  VALUE_INT16X2,
  VALUE_PRED,
  VALUE_SHIFT,
  VALUE_NTH,
  VALUE_ANGLE,
  VALUE_EXPONENT,
  VALUE_SWEEP,
  VALUE_SMALL_F16X2,
  VALUE_SMALL_BF16X2,
  VALUE_SMALL_F32,
  VALUE_SMALL_FP8  // integers from -8 to 8
} ValueKind;

typedef struct Operand {
  ValueKind kind;
  unsigned bits;           // of the value: 1 (predicate), 8, 16, 32, 64
  unsigned reg_bits;       // of the register that holds it
} Operand;

typedef struct Form {
  const char *text;        // as in forms.def, expanded: the form's name
  const char *rule;
  bool whole;              // text is the whole instruction with $n operands
  Operand ops[MAX_OPERANDS];
  unsigned ndst, nsrc;
  unsigned rows;
} Form;

extern Form *forms;
extern unsigned nforms, narithmetic;       // forms.def's come first
// The kernels execute the instruction with some lanes of a warp at a time: under a guard, or in two
// branches.
extern bool forms_diverged;
void forms_expand(void);
void forms_print_kernel(FILE *f, const Form *form, unsigned index);   // kernel "f<index>"
void forms_print_header(FILE *f, const char *version, const char *target);
// Row i of the inputs: nsrc words of 8 bytes.
void forms_fill_inputs(const Form *form, uint64_t *rows);

#endif
