// The arithmetic family: chooses, by opcode and type, the file that knows the instruction.
#include "vgpu/exec/arith_exec.h"

static BindFn *by_float_type(PtxType t) {
  switch (t) {
    case TYPE_F32:
    case TYPE_F32X2: return VGPU_NAME(arith_bind_f32);
    case TYPE_F64: return VGPU_NAME(arith_bind_f64);
    case TYPE_F16:
    case TYPE_BF16:
    case TYPE_F16X2:
    case TYPE_BF16X2: return VGPU_NAME(arith_bind_half);
    default: return NULL;
  }
}

static BindFn *by_type(const PtxInstr *in) {
  if (ptx_has(in, MOD_CC)) return VGPU_NAME(arith_bind_carry);
  if (ptx_has(in, MOD_APPROX) || ptx_has(in, MOD_FULL)) return VGPU_NAME(arith_bind_special);
  PtxType t = in->ntypes ? in->types[0] : TYPE_NONE;  // mixed precision (add.f32.f16) is f32's
  return type_is_float(t) ? by_float_type(t) : VGPU_NAME(arith_bind_int);
}

// Formats that only cvt knows.
static bool is_narrow_cvt(const PtxInstr *in) {
  for (unsigned k = 0; k < in->ntypes; k++) switch (in->types[k]) {
      case TYPE_F16X2:
      case TYPE_BF16X2:
      case TYPE_TF32:
      case TYPE_E4M3X2:
      case TYPE_E5M2X2:
      case TYPE_E4M3X4:
      case TYPE_E5M2X4:
      case TYPE_E2M3X2:
      case TYPE_E3M2X2:
      case TYPE_E2M1X2:
      case TYPE_E2M3X4:
      case TYPE_E3M2X4:
      case TYPE_E2M1X4:
      case TYPE_UE8M0X2: return true;
      default: break;
    }
  return false;
}

static BindFn *choose(const PtxInstr *in) {
  switch (ptx_op_family(in->op)) {
    case FAMILY_ARITH_TYPED: return by_type(in);
    case FAMILY_ARITH_CARRY: return VGPU_NAME(arith_bind_carry);
    case FAMILY_ARITH_SPECIAL: return VGPU_NAME(arith_bind_special);
    case FAMILY_ARITH_BITS: return VGPU_NAME(arith_bind_bits);
    case FAMILY_ARITH_LOGIC: return VGPU_NAME(arith_bind_logic);
    case FAMILY_ARITH_SETP: return VGPU_NAME(arith_bind_setp);
    case FAMILY_ARITH_SET: return VGPU_NAME(arith_bind_set);
    case FAMILY_ARITH_SELECT: return VGPU_NAME(arith_bind_select);
    case FAMILY_ARITH_MOV: return VGPU_NAME(arith_bind_mov);
    case FAMILY_ARITH_CVT:
      return is_narrow_cvt(in) ? VGPU_NAME(arith_bind_cvt_small) : VGPU_NAME(arith_bind_cvt);
    case FAMILY_ARITH_CVT_PACK: return VGPU_NAME(arith_bind_cvt_pack);
    case FAMILY_ARITH_VIDEO: return VGPU_NAME(arith_bind_video);
    default: return NULL;
  }
}

bool VGPU_NAME(vgpu_bind_arith)(Binder *b) {
  BindFn *bind = choose(b->in);
  return bind ? bind(b) : bind_unsupported(b, "not executed by the virtual device");
}
