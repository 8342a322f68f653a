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
