// Number formats that C lacks: FP16, BF16, TF32 and the two FP8 formats, from and to float.
#ifndef WG_LIBRARIES_NUMBERS_H
#define WG_LIBRARIES_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cuda/library_call.h"

// --- cudaDataType ---
typedef enum DataType {
  R_32F = 0,
  R_64F = 1,
  R_16F = 2,
  R_8I = 3,
  C_32F = 4,
  C_64F = 5,
  C_16F = 6,
  C_8I = 7,
  R_8U = 8,
  R_32I = 10,
  R_16BF = 14,
  C_16BF = 15,
  R_8F_E4M3 = 28,
  R_8F_E5M2 = 29
} DataType;
unsigned number_bytes(DataType t);  // of an element; 0: not a type that is served
static inline int number_is_complex(DataType t) {
  return t == C_32F || t == C_64F || t == C_16F || t == C_8I || t == C_16BF;
}
OperandFormat number_format(DataType t);

float number_from_f16(uint16_t h);
uint16_t number_to_f16(float f);  // to nearest, ties to even
float number_from_bf16(uint16_t h);
uint16_t number_to_bf16(float f);
float number_to_tf32(float f);  // rounded to ten bits of mantissa
float number_from_f8(uint8_t b, DataType t);
uint8_t number_to_f8(float f, DataType t);  // saturates to the largest finite number

// Elements of any real or complex type as double (complex: pairs), and back with one rounding.
void numbers_widen(double *to, const void *from, DataType t, uint64_t n);
void numbers_to_float(float *to, const void *from, DataType t, uint64_t n);
void numbers_from_float(void *to, DataType t, const float *from, uint64_t n);
void numbers_narrow(void *to, DataType t, const double *from, uint64_t n);
#endif
