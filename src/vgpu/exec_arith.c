// The arithmetic family: chooses, by opcode and type, the file that knows the instruction.
#include "vgpu/arith_exec.h"

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
  switch (in->op) {
    case OP_ADD:
    case OP_SUB: return ptx_has(in, MOD_CC) ? VGPU_NAME(arith_bind_carry) : by_type(in);
    case OP_MAD: return ptx_has(in, MOD_CC) ? VGPU_NAME(arith_bind_carry) : by_type(in);
    case OP_ADDC:
    case OP_SUBC:
    case OP_MADC: return VGPU_NAME(arith_bind_carry);
    case OP_DIV:
    case OP_RCP:
    case OP_SQRT:
      return ptx_has(in, MOD_APPROX) || ptx_has(in, MOD_FULL) ? VGPU_NAME(arith_bind_special)
                                                              : by_type(in);
    case OP_MUL:
    case OP_MUL24:
    case OP_MAD24:
    case OP_SAD:
    case OP_REM:
    case OP_ABS:
    case OP_NEG:
    case OP_MIN:
    case OP_MAX:
    case OP_FMA:
    case OP_COPYSIGN: return by_type(in);
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_TANH: return VGPU_NAME(arith_bind_special);
    case OP_POPC:
    case OP_CLZ:
    case OP_BFIND:
    case OP_FNS:
    case OP_BREV:
    case OP_BFE:
    case OP_BFI:
    case OP_SZEXT:
    case OP_BMSK:
    case OP_DP4A:
    case OP_DP2A: return VGPU_NAME(arith_bind_bits);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_CNOT:
    case OP_LOP3:
    case OP_SHF:
    case OP_SHL:
    case OP_SHR:
    case OP_PRMT: return VGPU_NAME(arith_bind_logic);
    case OP_SETP: return VGPU_NAME(arith_bind_setp);
    case OP_SET: return VGPU_NAME(arith_bind_set);
    case OP_SELP:
    case OP_SLCT:
    case OP_TESTP: return VGPU_NAME(arith_bind_select);
    case OP_MOV: return VGPU_NAME(arith_bind_mov);
    case OP_CVT:
      return is_narrow_cvt(in) ? VGPU_NAME(arith_bind_cvt_small) : VGPU_NAME(arith_bind_cvt);
    case OP_CVT_PACK: return VGPU_NAME(arith_bind_cvt_pack);
    case OP_VADD:
    case OP_VSUB:
    case OP_VABSDIFF:
    case OP_VMIN:
    case OP_VMAX:
    case OP_VSHL:
    case OP_VSHR:
    case OP_VMAD:
    case OP_VSET:
    case OP_VADD2:
    case OP_VSUB2:
    case OP_VAVRG2:
    case OP_VABSDIFF2:
    case OP_VMIN2:
    case OP_VMAX2:
    case OP_VSET2:
    case OP_VADD4:
    case OP_VSUB4:
    case OP_VAVRG4:
    case OP_VABSDIFF4:
    case OP_VMIN4:
    case OP_VMAX4:
    case OP_VSET4: return VGPU_NAME(arith_bind_video);
    default: return NULL;
  }
}

bool VGPU_NAME(vgpu_bind_arith)(Binder *b) {
  BindFn *bind = choose(b->in);
  return bind ? bind(b) : bind_unsupported(b, "not executed by the virtual device");
}
