#!/usr/bin/env bash
# The contract pass must not change what ptxas makes: generated kernels, and our own CUDA sources
# through nvcc.
# timeout: 600
set -u
cd "$ROOT" || exit 1
if ! command -v ptxas > /dev/null; then echo "skipped: ptxas is not installed"; exit 77; fi
if ! command -v python3 > /dev/null; then echo "skipped: python3 is not installed"; exit 77; fi
failed=0
ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; failed=1; }

# different FILE ARCH [FLAG…]: contracts FILE and prints the kernels that differ; 1 when something
# could not be done.
different() {
  local file=$1 arch=$2 base=$TEST_DIR/work
  shift 2
  "$WARPGRIND" ptx --contract "$file" > "$base.ptx" 2> "$base.log" || { cat "$base.log"; return 1; }
  ptxas -c "$@" -arch="$arch" "$file" -o "$base.a.cubin" > "$base.log" 2>&1 ||
    { head -n 3 "$base.log"; return 1; }
  ptxas -c "$@" -arch="$arch" "$base.ptx" -o "$base.b.cubin" > "$base.log" 2>&1 ||
    { head -n 3 "$base.log"; return 1; }
  python3 tests/ir/contract_check.py "$base.a.cubin" "$base.b.cubin"
}

# --- generated: every shape must be the same. Of the random kernels up to 4 in a hundred may be
# scheduled otherwise. ---
random=60
while read -r type arch seed mods; do
  name=generated-$type$mods-$arch
  # shellcheck disable=SC2086
  python3 tests/ir/contract_gen.py "$type" "$arch" "$seed" $random $mods > "$TEST_DIR/$name.ptx" ||
    { fail "$name" "the generator failed"; continue; }
  if ! out=$(different "$TEST_DIR/$name.ptx" "$arch"); then fail "$name" "$out"; continue; fi
  shapes=$(grep -c '^shape' <<< "$out") others=$(grep -c '^random' <<< "$out")
  if [ "$shapes" != 0 ] || [ $((others * 25)) -gt $random ]; then
    fail "$name" "these kernels differ: $(echo $out)"
  else
    ok "$name"
  fi
done <<'LIST'
f32 sm_90 1
f32 sm_75 2 .ftz
f32 sm_100 3
f64 sm_80 4
f16 sm_90 5
f16x2 sm_80 6
bf16 sm_90 7
bf16x2 sm_90 8
LIST

# --- our own sources ---
if ! command -v nvcc > /dev/null; then echo "skip sources: nvcc is not installed"; exit $failed; fi
turn=0
for source in tests/ir/sources/*.cu examples/*/*.cu; do
  [ -e "$source" ] || continue
  case $source in
    *_ok.cu) continue ;;                               # the same arithmetic as its twin
    */half_variance.cu) echo \
      "skip half_variance: ptxas unrolls the shorter loop further; the operations are the same"
      continue ;;
  esac
  hows=("90 -O3" "80 -O3 -use_fast_math" "75 -G")
  # examples: in one of two ways, or, for make check-long, in both
  case $source in examples/*)
    turn=$((turn + 1)) hows=("${hows[@]:0:2}")
    [ "${TEST_SIZE:-}" = long ] || hows=("${hows[turn % 2]}") ;;
  esac
  for how in "${hows[@]}"; do
    # shellcheck disable=SC2086
    set -- $how
    name=$(basename "$(dirname "$source")")/$(basename "$source" .cu)-sm_$1$2${3:-}
    nvcc -ptx -arch="compute_$1" "${@:2}" -Iexamples -Iinclude -std=c++17 -o \
      "$TEST_DIR/source.ptx" "$source" > "$TEST_DIR/log" 2>&1 ||
      { echo "skip $name: nvcc does not compile it"; continue; }
    flags=(); [ "$2" = -G ] && flags=(-g)
    if out=$(different "$TEST_DIR/source.ptx" "sm_$1" "${flags[@]}") && [ -z "$out" ]; then
      ok "$name"
    else
      fail "$name" "$out"
    fi
  done
done
exit $failed
