// calc: typed values as in CUDA C, for the calculator of the page.
#ifndef WG_VIEW_CALC_H
#define WG_VIEW_CALC_H

#include "base/base.h"

typedef enum {
  CALC_INT,
  CALC_UINT,
  CALC_LONG,
  CALC_ULONG,
  CALC_HALF,
  CALC_BFLOAT,
  CALC_FLOAT,
  CALC_DOUBLE
} CalcType;
// Integers are in i, signed or unsigned as the type says. Floating-point numbers are in f, with a
// value that their type holds exactly. A NaN made from bits has these in i; 0: the NaN that the
// device makes.
typedef struct CalcValue {
  CalcType type;
  int64_t i;
  double f;
} CalcValue;

bool calc_is_float(CalcType t);
CalcType calc_type_of(char letter);                // of calc_functions.def
CalcValue calc_int(CalcType type, uint64_t bits);  // cut to the type's bits
CalcValue calc_float(CalcType type, double f);     // must be exact already
uint64_t calc_bits(CalcValue v);
CalcValue calc_from_bits(CalcType type, uint64_t bits);
// as a cast, with saturation as on the device; rounding: FE_…
CalcValue calc_convert(CalcValue v, CalcType to, int rounding);

// A device on which functions run; NULL: none. ran: it has computed a result; missed: it failed to.
typedef struct CalcDevice {
  bool (*run)(const char *kind, const char *ptx, const uint64_t arguments[3], uint64_t *bits,
              char *name, size_t size);
  const char *kind;
  bool ran, missed;
  char name[128];
} CalcDevice;

// An expression; x: the value of the name x, NULL: it has none
typedef struct CalcQuestion {
  const char *text;
  const CalcValue *x;
  CalcDevice *device;
} CalcQuestion;
// notes: may be NULL
bool calc_evaluate(const CalcQuestion *q, CalcValue *out, Str *notes, Error *err);

typedef struct CalcCall {
  const char *name;
  size_t n;  // of the name
  const CalcValue *arguments;
  unsigned count;
  CalcDevice *device;
} CalcCall;
// The result, or false with the reason; notes: remarks for the user ("overflow").
bool calc_call(const CalcCall *c, CalcValue *out, Str *notes, Error *err);
// A module with a kernel that computes the function, on one line; letters: the types of its
// arguments. false: it has no such kernel, because all devices compute the same.
bool calc_ptx(const char *name, const char *letters, CalcType result, Str *out);
// kind: cpu or gpu
bool calc_on_device(const char *kind, const char *ptx, const uint64_t arguments[3], uint64_t *bits,
                    char *name, size_t size);
void calc_list(Str *json);  // names, arguments and meaning of all functions

#endif
