#!/usr/bin/env bash
# On a GPU: NVIDIA's libraries compute the same as ours. Random numbers and integers bit for bit,
# other results within the tolerances of the programs.
. tests/lib/check.sh
for name in cublas_levels cublas_more cublaslt cublaslt_epilogues cufft curand curand_generators \
  curand_discrete sobol cusolver cusparse cusparse_legacy; do
  nvcc -arch=native -std=c++17 -o "$TEST_DIR/$name" "tests/libraries/$name.cu" -lcublas -lcublasLt \
    -lcufft -lcurand -lcusolver -lcusparse || exit 1
done
check cublas_on_the_gpu "$TEST_DIR/cublas_levels"
check cublas_more_on_the_gpu "$TEST_DIR/cublas_more"
check cublaslt_on_the_gpu "$TEST_DIR/cublaslt"
check cublaslt_epilogues_on_the_gpu "$TEST_DIR/cublaslt_epilogues" gpu
check cufft_on_the_gpu "$TEST_DIR/cufft"
check cusolver_on_the_gpu "$TEST_DIR/cusolver"
check cusparse_on_the_gpu "$TEST_DIR/cusparse"
check cusparse_legacy_on_the_gpu "$TEST_DIR/cusparse_legacy"
same() { "$TEST_DIR/$1" device | diff - "tests/libraries/$1.txt"; }
for name in curand curand_generators curand_discrete sobol; do
  check "${name}_numbers" same "$name"
done
