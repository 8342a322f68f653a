// Includes FUNCTIONS_OF_A_TYPE for each type of elements.
//   T, t        the type's letter in names of CUDA's libraries and of BLAS
//   REAL_T      the letters of functions with a real result: Scnrm2
//   E, R        an element and its real part
//   REAL        1: they are the same
//   REAL_t      the letter of the real type
//   FORMAT      OPERAND_F32 or OPERAND_F64
//   DATA        the cudaDataType
#define PASTE_(a, b, c, d) a##b##c##d
#define PASTE(a, b, c, d) PASTE_(a, b, c, d)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define LOCAL(f) PASTE(f, _, t, )
#define ELEMENT ((Element){sizeof(E), FORMAT})

#define T S
#define t s
#define REAL_t s
#define REAL_T S
#define E float
#define R float
#define REAL 1
#define FORMAT OPERAND_F32
#define DATA R_32F
#include FUNCTIONS_OF_A_TYPE
#undef T
#undef t
#undef REAL_t
#undef REAL_T
#undef E
#undef R
#undef REAL
#undef FORMAT
#undef DATA

#define T D
#define t d
#define REAL_t d
#define REAL_T D
#define E double
#define R double
#define REAL 1
#define FORMAT OPERAND_F64
#define DATA R_64F
#include FUNCTIONS_OF_A_TYPE
#undef T
#undef t
#undef REAL_t
#undef REAL_T
#undef E
#undef R
#undef REAL
#undef FORMAT
#undef DATA

#define T C
#define t c
#define REAL_t s
#define REAL_T Sc
#define E float _Complex
#define R float
#define REAL 0
#define FORMAT OPERAND_F32
#define DATA C_32F
#include FUNCTIONS_OF_A_TYPE
#undef T
#undef t
#undef REAL_t
#undef REAL_T
#undef E
#undef R
#undef REAL
#undef FORMAT
#undef DATA

#define T Z
#define t z
#define REAL_t d
#define REAL_T Dz
#define E double _Complex
#define R double
#define REAL 0
#define FORMAT OPERAND_F64
#define DATA C_64F
#include FUNCTIONS_OF_A_TYPE
#undef T
#undef t
#undef REAL_t
#undef REAL_T
#undef E
#undef R
#undef REAL
#undef FORMAT
#undef DATA
