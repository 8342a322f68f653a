// Integer functions that libclc lacks.
#define MAD_HI(type) \
  type BUILT_IN mad_hi(type a, type b, type c) { return mul_hi(a, b) + c; }
#define ALL_WIDTHS(what, type) \
  what(type) what(type##2) what(type##3) what(type##4) what(type##8) what(type##16)
ALL_WIDTHS(MAD_HI, char)
ALL_WIDTHS(MAD_HI, uchar)
ALL_WIDTHS(MAD_HI, short)
ALL_WIDTHS(MAD_HI, ushort)
ALL_WIDTHS(MAD_HI, int)
ALL_WIDTHS(MAD_HI, uint)
ALL_WIDTHS(MAD_HI, long)
ALL_WIDTHS(MAD_HI, ulong)
