// Numbers of a buffer's elements, as bytes in memory.
#pragma once

#include "base/base.h"

typedef enum {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F16,
  BF16,
  F32,
  F64,
  ELEMENT_TYPES
} ViewElement;
extern const unsigned view_element_bytes[ELEMENT_TYPES];
int view_element_type(const char *name);  // "f32"; ELEMENT_TYPES: there is no such type
double view_number_at(const uint8_t *p, ViewElement t);
// Integers in full, others so that they can be told from their neighbours.
void view_number_text(const uint8_t *p, ViewElement t, char *out, size_t size);
