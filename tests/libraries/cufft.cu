// cuFFT against sums in double: lengths with small factors, primes and powers of two; real and
// complex, one to three dimensions, batches, strides, in place.
// nvcc: -lcufft
#include <cufft.h>
#include <cufftXt.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

typedef std::complex<double> Z;
typedef std::complex<float> C;
static int bad;
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("%s: status %d\n", #call, status_), bad++; \
  } while (0)

static double value(int i) { return ((i * 37 + 11) % 101 - 50) / 25.0; }

static void compare(const char *what, int n, const std::vector<Z> &got, const std::vector<Z> &want,
                    double tolerance) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < want.size(); i++) {
    error = std::fmax(error, std::abs(got[i] - want[i]));
    norm = std::fmax(norm, std::abs(want[i]));
  }
  if (!(error <= tolerance * norm)) printf("%s %d: error %g of %g\n", what, n, error, norm), bad++;
}

// The definition, for a box of up to three dimensions.
static std::vector<Z> slow(const std::vector<Z> &x, int a, int b, int c, int sign) {
  std::vector<Z> out(x.size());
  for (int i = 0; i < a * b * c; i++)
    for (int j = 0; j < a * b * c; j++) {
      double turn = (double)((long)(i / (b * c)) * (j / (b * c)) % a) / a +
                    (double)((long)(i / c % b) * (j / c % b) % b) / b +
                    (double)((long)(i % c) * (j % c) % c) / c;
      out[i] += x[j] * std::polar(1.0, sign * 2 * M_PI * turn);
    }
  return out;
}

template <typename T> static T *device(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <typename T> static std::vector<T> get(T *p, size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(p);
  return v;
}

static void complex_lines() {
  for (int n : {1, 2, 3, 16, 60, 64, 97, 134, 210}) {
    const int batch = 2;
    std::vector<Z> x(n * batch);
    for (int i = 0; i < n * batch; i++) x[i] = Z(value(i), value(5 * i + 3));
    Z *d = device(x);
    cufftHandle plan;
    OK(cufftPlan1d(&plan, n, CUFFT_Z2Z, batch));
    OK(cufftExecZ2Z(plan, (cufftDoubleComplex *)d, (cufftDoubleComplex *)d, CUFFT_FORWARD));
    OK(cufftDestroy(plan));
    std::vector<Z> got = get(d, x.size());
    for (int b = 0; b < batch; b++)
      compare("Z2Z", n, std::vector<Z>(got.begin() + b * n, got.begin() + (b + 1) * n),
              slow(std::vector<Z>(x.begin() + b * n, x.begin() + (b + 1) * n), 1, 1, n, -1), 1e-12);
  }
}

static void real_there_and_back(bool in_place) {
  const int a = 4, b = 5, c = 6, half = c / 2 + 1, row = in_place ? 2 * half : c;
  std::vector<float> x(a * b * row);
  std::vector<Z> full(a * b * c);
  for (int i = 0; i < a * b; i++)
    for (int k = 0; k < c; k++) full[i * c + k] = x[i * row + k] = (float)value(i * c + k);
  float *d = device(x);
  C *out = in_place ? (C *)d : device(std::vector<C>(a * b * half));
  cufftHandle there, back;
  OK(cufftPlan3d(&there, a, b, c, CUFFT_R2C));
  OK(cufftPlan3d(&back, a, b, c, CUFFT_C2R));
  OK(cufftExecR2C(there, d, (cufftComplex *)out));
  std::vector<C> spectrum(a * b * half);
  cudaMemcpy(spectrum.data(), out, spectrum.size() * sizeof(C), cudaMemcpyDeviceToHost);
  std::vector<Z> want = slow(full, a, b, c, -1), got(a * b * half), wanted(a * b * half);
  for (int i = 0; i < a * b; i++)
    for (int k = 0; k < half; k++) {
      got[i * half + k] = spectrum[i * half + k];
      wanted[i * half + k] = want[i * c + k];
    }
  compare("R2C", a * b * c, got, wanted, 1e-6);
  OK(cufftExecC2R(back, (cufftComplex *)out, d));
  std::vector<float> again = get(d, x.size());
  for (int i = 0; i < a * b; i++)
    for (int k = 0; k < c; k++)
      if (std::fabs(again[i * row + k] / (a * b * c) - x[i * row + k]) > 1e-5)
        printf("C2R (%d, %d)\n", i, k), bad++;
  if (!in_place) cudaFree(out);
  OK(cufftDestroy(there));
  OK(cufftDestroy(back));
}

static void columns() {  // of a matrix in row-major order: stride and distance
  const int rows = 8, width = 3;
  int n[] = {rows};
  std::vector<Z> x(rows * width);
  for (int i = 0; i < rows * width; i++) x[i] = Z(value(i), 0);
  Z *d = device(x), *out = device(x);
  cufftHandle plan;
  OK(cufftPlanMany(&plan, 1, n, n, width, 1, n, width, 1, CUFFT_Z2Z, width));
  OK(cufftExecZ2Z(plan, (cufftDoubleComplex *)d, (cufftDoubleComplex *)out, CUFFT_INVERSE));
  OK(cufftDestroy(plan));
  std::vector<Z> got = get(out, x.size());
  for (int j = 0; j < width; j++) {
    std::vector<Z> line, result;
    for (int i = 0; i < rows; i++) {
      line.push_back(x[i * width + j]);
      result.push_back(got[i * width + j]);
    }
    compare("columns", j, result, slow(line, 1, 1, rows, 1), 1e-13);
  }
  cudaFree(d);
}

static void plans_of_data_types() {  // cufftXtMakePlanMany: there and back
  long long n[] = {20};
  size_t work = 0;
  std::vector<Z> x(40);
  for (int i = 0; i < 40; i++) x[i] = Z(value(i), value(i + 50));
  Z *d = device(x), *out = device(x);
  cufftHandle plan;
  OK(cufftCreate(&plan));
  OK(cufftXtMakePlanMany(plan, 1, n, NULL, 1, 20, CUDA_C_64F, NULL, 1, 20, CUDA_C_64F, 2, &work,
                         CUDA_C_64F));
  OK(cufftXtExec(plan, d, out, CUFFT_FORWARD));
  std::vector<Z> got = get(out, x.size());
  for (int b = 0; b < 2; b++) {
    std::vector<Z> line(x.begin() + 20 * b, x.begin() + 20 * (b + 1)),
        result(got.begin() + 20 * b, got.begin() + 20 * (b + 1));
    compare("XtMakePlanMany", b, result, slow(line, 1, 1, 20, -1), 1e-13);
  }
  OK(cufftDestroy(plan));
  cudaFree(d);
  cudaFree(out);
}

static void own_work_area() {  // the program asks for the size of the work area and allocates it
  const int n = 50;
  size_t estimate = 1 << 30, exact = 1 << 30, made = 1 << 30;
  std::vector<Z> x(n);
  for (int i = 0; i < n; i++) x[i] = Z(value(i), value(i + 50));
  Z *d = device(x), *out = device(x);
  void *area = NULL;
  cufftHandle plan;
  OK(cufftEstimate1d(n, CUFFT_Z2Z, 1, &estimate));
  OK(cufftCreate(&plan));
  OK(cufftSetAutoAllocation(plan, 0));
  OK(cufftGetSize1d(plan, n, CUFFT_Z2Z, 1, &exact));
  OK(cufftMakePlan1d(plan, n, CUFFT_Z2Z, 1, &made));
  if (made > exact && made > estimate) printf("sizes %zu %zu %zu\n", estimate, exact, made), bad++;
  cudaMalloc(&area, made + 1);
  OK(cufftSetWorkArea(plan, area));
  OK(cufftExecZ2Z(plan, (cufftDoubleComplex *)d, (cufftDoubleComplex *)out, CUFFT_FORWARD));
  compare("own work area", 0, get(out, x.size()), slow(x, 1, 1, n, -1), 1e-13);
  OK(cufftDestroy(plan));
  if (!cufftEstimate1d(-1, CUFFT_Z2Z, 1, &estimate)) printf("a length of -1 is taken\n"), bad++;
  cudaFree(d);
  cudaFree(out);
  cudaFree(area);
}

int main() {
  plans_of_data_types();
  own_work_area();
  complex_lines();
  real_there_and_back(false);
  real_there_and_back(true);
  columns();
  printf("%d wrong\n", bad);
  return bad != 0;
}
