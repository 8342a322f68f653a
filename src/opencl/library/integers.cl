// Integer functions that libclc lacks.
#define MAD_HI(type) \
  type BUILT_IN mad_hi(type a, type b, type c) { return mul_hi(a, b) + c; }
ALL_WIDTHS(MAD_HI, char)
ALL_WIDTHS(MAD_HI, uchar)
ALL_WIDTHS(MAD_HI, short)
ALL_WIDTHS(MAD_HI, ushort)
ALL_WIDTHS(MAD_HI, int)
ALL_WIDTHS(MAD_HI, uint)
ALL_WIDTHS(MAD_HI, long)
ALL_WIDTHS(MAD_HI, ulong)

// Counts the bits below the lowest set bit.
#define CTZ(type) \
  type BUILT_IN ctz(type x) { return popcount((type)((x & -x) - (type)1)); }
ALL_WIDTHS(CTZ, char)
ALL_WIDTHS(CTZ, uchar)
ALL_WIDTHS(CTZ, short)
ALL_WIDTHS(CTZ, ushort)
ALL_WIDTHS(CTZ, int)
ALL_WIDTHS(CTZ, uint)
ALL_WIDTHS(CTZ, long)
ALL_WIDTHS(CTZ, ulong)

// In place of libclc's (19), which are wrong for the smallest b, and for long. The code selects
// by the high bit of a number, spread over all bits: one text serves scalars and vectors.
#define SIGNED_SUB_SAT(type, bits, most) \
  type BUILT_IN sub_sat(type a, type b) { \
    type d = as_##type(as_u##type(a) - as_u##type(b)); \
    type overflows = ((a ^ b) & (a ^ d)) >> (bits - 1); \
    return (d & ~overflows) | (((a >> (bits - 1)) ^ most) & overflows); \
  }
#define INT_SUB_SAT(type) SIGNED_SUB_SAT(type, 32, INT_MAX)
#define LONG_SUB_SAT(type) SIGNED_SUB_SAT(type, 64, LONG_MAX)
ALL_WIDTHS(INT_SUB_SAT, int)
ALL_WIDTHS(LONG_SUB_SAT, long)

// The sum of the product's two halves and c: it fits if the upper half is only the sign.
#define LONG_MAD_SAT(type) \
  type BUILT_IN mad_sat(type a, type b, type c) { \
    type low = as_##type(as_u##type(a) * as_u##type(b)), \
         sum = as_##type(as_u##type(low) + as_u##type(c)); \
    type carry = as_##type(as_u##type((low & c) | ((low | c) & ~sum)) >> 63); \
    type high = mul_hi(a, b) + (c >> 63) + carry, beyond = high ^ (sum >> 63); \
    type overflows = (beyond | -beyond) >> 63; \
    return (sum & ~overflows) | (((high >> 63) ^ LONG_MAX) & overflows); \
  }
ALL_WIDTHS(LONG_MAD_SAT, long)
