// The only function of Fortran's run-time library that LAPACK's routines here call, to join the
// letters of two options to one string.
#include <stddef.h>
#include <string.h>

void _gfortran_concat_string(size_t size, char *to, size_t na, const char *a, size_t nb,
                             const char *b);

void _gfortran_concat_string(size_t size, char *to, size_t na, const char *a, size_t nb,
                             const char *b) {
  na = na < size ? na : size;
  nb = nb < size - na ? nb : size - na;
  memcpy(to, a, na);
  memcpy(to + na, b, nb);
  memset(to + na + nb, ' ', size - na - nb);
}
