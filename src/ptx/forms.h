// Internals of the verifier: the lines of forms.def, compiled.
#ifndef WG_PTX_FORMS_H
#define WG_PTX_FORMS_H

#include "ptx/ptx.h"

enum { MAX_GROUPS = 16, MAX_FORM_OPERANDS = 10, MOD_WORDS = (MOD_COUNT + 63) / 64 };

// one of the set's modifiers
typedef struct FormGroup {
  uint16_t set;
  bool optional, is_type;
} FormGroup;
typedef enum { WANT_MODIFIER, WANT_FIXED, WANT_WIDE, WANT_ANY } WantType;
typedef struct FormOperand {
  char kind;  // the letter of forms.def
  bool optional;
  WantType want;
  uint8_t index;  // WANT_MODIFIER: which type modifier
  PtxType type;   // WANT_FIXED
} FormOperand;
typedef struct Form {
  PtxForm text;
  FormGroup groups[MAX_GROUPS];
  uint8_t ngroups;
  FormOperand operands[MAX_FORM_OPERANDS];
  uint8_t noperands;
} Form;

const Form *form_get(uint32_t index);  // 1-based, as PtxInstr.form
void form_range(PtxOp op, uint32_t *first, uint32_t *end);
bool form_set_has(uint16_t set, PtxMod m);
void form_describe(const Form *f, Str *out);  // "add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32"

#endif
