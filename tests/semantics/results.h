// A results file: what one device computed for every form. Written in the order of forms.def.
#ifndef SEMANTICS_RESULTS_H
#define SEMANTICS_RESULTS_H

#include "forms.h"

typedef enum { RESULT_OK, RESULT_NOT_LOADED, RESULT_NOT_RUN } ResultState;
typedef struct Result {
  char *text;              // the form
  ResultState state;
  char *log;               // why not
  unsigned rows, ndst;
  uint64_t *values;        // rows * ndst words
} Result;

void results_write(FILE *f, const Result *r);
bool results_read(FILE *f, Result *r);               // false at the end
uint64_t results_hash(const Result *r);
// Prints up to `show` differing rows; returns how many differ.
unsigned results_compare(const Form *form, const Result *expected, const Result *got,
                         unsigned show);

#endif
