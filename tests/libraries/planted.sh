#!/usr/bin/env bash
# Mistakes in calls of the libraries, as each tool reports them: what, and the line of the call.
# Correct calls are silent.
# timeout: 240
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skip planted: nvcc is not installed"; exit 0; }
build() {  # PROGRAM OPTION…
  program=$1
  shift
  tests/lib/nvcc -arch=sm_75 -g -lineinfo -o "$TEST_DIR/$program" "tests/libraries/$program.cu" \
    "$@" || exit 1
}

run() {  # TOOL MISTAKE
  "$WARPGRIND" --device=cpu --tool="$1" "$TEST_DIR/$program" "$2" > "$TEST_DIR/out" 2>&1
}
# finds TOOL MISTAKE TEXT: a finding with this text, and the call in the program is its first frame
finds() {
  run "$1" "$2"
  has "$TEST_DIR/out" "$3" && grep -A2 'called$' "$TEST_DIR/out" | grep -q "at main .*$program.cu:"
}
# A race is found by the one that runs last: the call, or the kernel.
finds_race_with_kernel() {
  run racecheck kernel
  has "$TEST_DIR/out" '(race-host)' && grep -q -e 'cublasSgemm reads bytes that launch 1 writes' \
    -e "at .*$program.cu:17 in fill" "$TEST_DIR/out" &&
    grep -q "by main .*$program.cu:" "$TEST_DIR/out"
}
silent() {
  run "$1" "$2"
  has "$TEST_DIR/out" 'ERROR SUMMARY: 0 errors'
}
silent_everywhere() {  # a program without a mistake
  for tool in memcheck initcheck fpcheck racecheck; do
    check "silent_${program}_$tool" silent $tool none
  done
}

build planted -lcublas
check leading_dimension finds memcheck leading \
  'cublasSgemm: A is read up to 768 bytes behind its allocation'
check leading_dimension_shape has "$TEST_DIR/out" \
  '16 x 16 elements of 4 bytes, leading dimension 80'
check no_device_access_after_overrun has "$TEST_DIR/out" 'leading: status 0, error 700'
check batch finds memcheck batch 'C is written up to 1024 bytes behind its allocation: 5 of 16 x 16'
check arguments finds memcheck arguments 'cublasSgemm: lda is smaller than the number of rows of A'
check unwritten finds initcheck unwritten \
  'cublasSgemm reads A, of which 1024 bytes were never written'
check infinity finds fpcheck nan 'Infinity is born in cublasSgemm: 256 of the numbers of C'
check race finds racecheck race 'cublasSgemm reads bytes that another copy or set writes'
check race_with_a_kernel finds_race_with_kernel
check ordered_by_an_event silent racecheck ordered
silent_everywhere
check half_a_matrix silent initcheck half
# A program that only calls libraries was checked, and the report says what was.
run memcheck none
check counts_calls has "$TEST_DIR/out" 'different kernels: 0, library calls: 1'
check says_what_was_checked has "$TEST_DIR/out" 'coverage (memcheck): 1 library calls'
check something_was_checked [ "$(grep -c 'NOTHING WAS CHECKED' "$TEST_DIR/out")" = 0 ]
run memcheck,synccheck none
check says_who_checked_it has "$TEST_DIR/out" 'coverage (memcheck): 1 library calls'
check says_who_did_not has "$TEST_DIR/out" 'coverage (synccheck): 0 library calls'
run synccheck none
check nothing_was_checked has "$TEST_DIR/out" 'NOTHING WAS CHECKED'

# Where OpenBLAS was not installed there is nothing to compute with: the call says so and fails.
without=$TEST_DIR/without
rm -rf "$without"; mkdir -p "$without"
cp "$BUILD/warpgrind" "$without/" && cp -rs "$BUILD/lib" "$without/" || exit 1
rm -f "$without/lib/cpu/libwarpgrind-blas.so"
"$without/warpgrind" --device=cpu --tool=none "$TEST_DIR/planted" none > "$TEST_DIR/out" 2>&1
check no_blas_status has "$TEST_DIR/out" 'status 15'
check no_blas_said has "$TEST_DIR/out" 'Debian: libopenblas-serial-dev'
rm -rf "$without"

build planted_cusolver -lcusolver
check solver_leading_dimension finds memcheck leading \
  'cusolverDnSgetrf: A is written up to 240 bytes behind its allocation'
check solver_workspace finds memcheck workspace \
  'cusolverDnSgetrf: the workspace is written up to 48 bytes behind its allocation: 64 bytes'
check solver_arguments finds memcheck arguments \
  'cusolverDnSpotrf: the workspace is smaller than bufferSize says'
check solver_unwritten finds initcheck unwritten \
  'cusolverDnSgetrf reads A, of which 1024 bytes were never written'
check solver_pivots finds initcheck pivots \
  'cusolverDnSgetrs reads ipiv, of which 64 bytes were never written'
check solver_infinity finds fpcheck zero 'Infinity is born in cusolverDnSgetrs'
check solver_race finds racecheck race 'cusolverDnSgetrf writes bytes that another copy or set'
silent_everywhere
check solver_half_a_matrix silent initcheck half

build planted_cusparse -lcusparse
check sparse_column finds memcheck column \
  'cusparseSpMV: a column index of 16, at position 5, is not from 0 to 15'
check sparse_offset finds memcheck base 'cusparseSpMV: an offset of 17, at position 15'
check sparse_short finds memcheck short \
  'cusparseSpMV: the value array of A is read up to 16 bytes behind its allocation'
check sparse_sizes finds memcheck sizes \
  'cusparseSpMV: the sizes of the operands do not go together'
check sparse_buffer finds memcheck buffer 'cusparseSpSV_solve: the buffer was freed before'
check sparse_buffer_kept silent memcheck solve
check sparse_unwritten finds initcheck unwritten \
  'cusparseSpMV reads x, of which 64 bytes were never written'
check sparse_infinity finds fpcheck infinite 'Infinity is born in cusparseSpMV: 16 of the numbers'
check sparse_race finds racecheck race 'cusparseSpMV reads bytes that another copy or set writes'
silent_everywhere

build planted_cufft -lcufft
check fft_spectrum finds memcheck half \
  'cufftExecR2C: odata is written up to 32 bytes behind its allocation: 132 elements of 8 bytes'
check fft_stride finds memcheck stride \
  'cufftExecR2C: idata is read up to 1020 bytes behind its allocation'
check fft_type finds memcheck type 'cufftExecR2C: the plan is one of another type'
check fft_unwritten finds initcheck unwritten \
  'cufftExecR2C reads idata, of which 1024 bytes were never written'
check fft_infinity finds fpcheck infinite 'Infinity is born in cufftExecR2C: 4 of the numbers'
check fft_race finds racecheck race 'cufftExecR2C reads bytes that another copy or set writes'
silent_everywhere
for tool in memcheck initcheck; do
  check fft_in_place_$tool silent $tool padded
done

build planted_curand -lcurand
check random_bytes finds memcheck bytes \
  'curandGenerateUniform: outputPtr is written up to 12288 bytes behind its allocation'
check random_freed finds memcheck freed 'curandGenerateUniform: outputPtr was freed before'
check random_odd finds memcheck odd \
  'curandGenerateNormal: the number of normally distributed results is odd'
check random_short finds initcheck short 'Data computed from memory that was never written'
check random_infinity finds fpcheck infinite \
  'Infinity is born in curandGenerateLogNormal: 1024 of the numbers of outputPtr'
check random_race finds racecheck race \
  'curandGenerateUniform writes bytes that another copy or set writes'
silent_everywhere

build planted_cublaslt -lcublasLt
check matmul_leading_dimension finds memcheck leading \
  'cublasLtMatmul: A is read up to 8064 bytes behind its allocation: 32 x 64 elements'
check matmul_bias finds memcheck bias \
  'cublasLtMatmul: bias is read up to 64 bytes behind its allocation: 32 elements'
check matmul_shapes finds memcheck shapes \
  'cublasLtMatmul: the shapes of A, B and D do not go together'
check matmul_unwritten finds initcheck unwritten \
  'cublasLtMatmul reads A, of which 8192 bytes were never written'
check matmul_infinity finds fpcheck infinite 'Infinity is born in cublasLtMatmul: 512 of the'
check matmul_race finds racecheck race 'cublasLtMatmul reads bytes that another copy or set writes'
silent_everywhere
