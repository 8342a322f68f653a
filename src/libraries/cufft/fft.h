// Discrete Fourier transforms of any length, in double precision.
#ifndef WG_LIBRARIES_FFT_H
#define WG_LIBRARIES_FFT_H

#include <complex.h>
#undef I
#include <stdbool.h>
#include <stdint.h>

// x[k] = sum of x[j] exp(sign 2 pi i j k / n), not scaled. false: no memory
bool fft_line(double _Complex *x, uint64_t n, int sign);
// Along all axes of an array in row-major order.
bool fft_box(double _Complex *x, const uint64_t *n, int rank, int sign);
#endif
