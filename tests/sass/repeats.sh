#!/usr/bin/env bash
# quick: yes
# Which launches repeat the accesses of others (src/sass/repeats.c): kernels of repeats.cu, with
# what is said of each in the comments before it; generated conditions of numbers, some of which
# make addresses depend on data; generated kernels whose addresses depend on data, or do not.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "skipped: there is no nvcc"; exit 0; }
san=
[ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -Wall $san -Isrc -o "$TEST_DIR/repeats" tests/sass/repeats.c \
  "$BUILD"/obj/sass/*.o "$BUILD"/obj/image/*.o "$BUILD"/obj/base/*.o -lzstd -llz4 -pthread || exit 1
code=0
judge() {  # NAME GOT EXPECTED
  if [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAIL $1: $2, expected $3"; code=1; fi
}
build() { nvcc -w -cubin -arch="sm_$2" -o "$TEST_DIR/$1.$2.cubin" "$3"; }

build kernels 90 tests/sass/repeats.cu || { echo "FAIL nvcc"; exit 1; }
awk '/^\/\/ repeats: / { want[++n] = substr($0, 13) }
  /^K / { sub(/\(.*/, "", $2); for (i = 1; i <= n; i++) print $2, want[i]; n = 0 }' \
  tests/sass/repeats.cu > "$TEST_DIR/expected"
while read -r kernel want params; do
  # shellcheck disable=SC2086
  judge "$kernel${params:+ $params}" \
    "$("$TEST_DIR/repeats" "$TEST_DIR/kernels.90.cubin" "$kernel" $params)" "$want"
done < "$TEST_DIR/expected"

# Machine code of generations that were not compared with nvdisasm is not judged.
for sm in 80 100 120; do
  build old $sm tests/sass/repeats.cu || continue
  judge "sm_$sm" "$("$TEST_DIR/repeats" "$TEST_DIR/old.$sm.cubin" saxpy)" "unknown generation"
done

# generated: FILE has kernels k0, k1 …; its host part prints `KERNEL EXPECTED PARAMETER…`, where
# `no` means that the launch must not be taken for a repeat
seeds=${REPEATS_SEEDS:-1}
[ "${TEST_SIZE:-}" = long ] && seeds=20
for kind in conditions flows; do
  for seed in $(seq $seeds); do
    file=$TEST_DIR/$kind.$seed
    python3 tests/sass/random_repeats.py $kind "$seed" > "$file.cu" &&
      nvcc -w -arch=sm_90 -o "$file" "$file.cu" && build "$kind.$seed" 90 "$file.cu" ||
      { echo "FAIL $kind $seed: nvcc"; code=1; continue; }
    wrong=0 right=0 shy=0
    while read -r kernel want params; do
      # shellcheck disable=SC2086
      got=$("$TEST_DIR/repeats" "$file.90.cubin" "$kernel" $params)
      if [ "$got" = "$want" ]; then right=$((right + 1))
      elif [ "$want" = no ]; then
        wrong=$((wrong + 1)); echo "$kernel $params: $got, expected $want"
      else shy=$((shy + 1)); fi
    done < <("$file")
    judge "$kind.$seed" "$wrong wrong" "0 wrong"
    # what may repeat is found, too, most of the time
    judge "$kind.$seed.found" "$((shy * 5 <= right)) of $right, $shy" "1 of $right, $shy"
  done
done
exit $code
