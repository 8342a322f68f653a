// Values of the parameters of a kernel's template; template_arguments.c.
#ifndef WG_RUN_TEMPLATE_ARGUMENTS_H
#define WG_RUN_TEMPLATE_ARGUMENTS_H

#include "run/source.h"

enum { TEMPLATE_ARGUMENTS = 16, TEMPLATE_VALUE = 128 };
typedef struct TemplateArguments {
  struct {
    char name[64], value[TEMPLATE_VALUE];
  } list[TEMPLATE_ARGUMENTS];
  unsigned n;
} TemplateArguments;

// readable: "void reduce<float, 256>(float const*, int)", of the function that the source defines
// as `template <typename T, int N> … reduce(…) {`. None where the two do not fit.
void template_arguments(const Source *s, const char *function, const char *readable,
                        TemplateArguments *out);
const char *template_value(const TemplateArguments *a, const char *name, size_t n);  // NULL: none
// Puts values in the place of names in a type: "Pair<T>" becomes "Pair<float>". false: too long
bool template_type(const TemplateArguments *a, char *type, size_t size);

#endif
