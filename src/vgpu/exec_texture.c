// Textures and surfaces: tex, tld4, txq, istypep, suld, sust, sured, suq.
#include "vgpu/warp.h"

bool VGPU_NAME(vgpu_bind_texture)(Binder *b) { return bind_unsupported(b, "textures are not executed by the virtual device"); }
