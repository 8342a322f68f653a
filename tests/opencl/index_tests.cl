// Indices outside of arrays, in the places that tests of indices are moved to and from: each line
// with a mistake says how often it is to be reported: what is the same in every turn of a loop may
// be tested before it.
typedef struct {
  float value[4][8];
  char name[3];
} Table;

kernel void example(global const float *in, global float *out, local float *tile, int n) {
  int i = get_global_id(0);
  Table t;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 8; b++) t.value[a][b] = a * b;
  for (int c = 0; c < 3; c++) t.name[c] = c;

  // beside an access that is outside of its buffer
  float sum = in[i == 70 ? 5000 : i % n] + t.value[i % 3][i % 10 == 9 ? 8 : i % 8];  // 102

  // the same in every turn of a loop that has a copy without checks
  for (int k = 0; k < n; k += 300) sum += in[k] * t.value[i % 5][k % 8];  // 204

  // another in every turn
  for (int k = 0; k < 6; k++) sum += in[k] * t.value[3][k + i % 4];  // 256

  // known only when something of the same block has been loaded
  int loaded = (int)in[i % n] + i % 3;
  sum += t.value[loaded & 3][1] + t.name[loaded % 4];  // 239

  // by an index of another type
  ulong wide = i < 5 ? 1ul << 40 : i % 4;
  sum += t.value[wide][0];  // 5

  // only where some lanes go
  if (i % 64 == 63) sum += t.name[(uchar)(i / 64)];  // 13
  if (i < n) out[i] = sum;
}
