// The machine code of one kernel of a cubin.
#include "image/elf_view.h"
#include "image/private.h"

enum { ATTR_PARAM_BANK = 0x0a, FORMAT_BYTES = 4 };

// .nv.info.K says where the parameters are in constant bank 0: after the symbol two numbers of 16
// bits, offset and size.
static bool find_params(const ElfSection *s, CubinCode *out) {
  for (size_t at = 0; at + 4 <= s->size;) {
    const unsigned char *p = s->data + at;
    unsigned size = p[0] == FORMAT_BYTES ? read_u16(p + 2) : 0;
    at += 4 + (size_t)size;
    if (at > s->size) return false;
    if (p[1] != ATTR_PARAM_BANK || size != 8) continue;
    out->param_base = read_u16(p + 8);
    out->param_bytes = read_u16(p + 10);
    return true;
  }
  return false;
}

static bool find_section(const ElfView *view, const char *prefix, const char *kernel,
                         ElfSection *out) {
  Str name = {0};
  str_printf(&name, "%s%s", prefix, kernel);
  bool found = elf_view_find(view, name.data, out) && out->data;
  str_free(&name);
  return found;
}

bool image_cubin_code(const void *cubin, size_t size, const char *kernel, CubinCode *out) {
  ElfView view;
  ElfSection text, info;
  *out = (CubinCode){0};
  if (!elf_view_open(&view, cubin, size, NULL) || view.header.e_machine != ELF_MACHINE_CUDA)
    return false;
  out->arch = cubin_arch(&view.header);
  if (!find_section(&view, ".text.", kernel, &text)) return false;
  out->code = text.data;
  out->bytes = text.size;
  if (find_section(&view, ".nv.info.", kernel, &info)) find_params(&info, out);
  return true;
}
