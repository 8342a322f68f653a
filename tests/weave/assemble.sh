#!/usr/bin/env bash
# What the tools make of every PTX file of this tree assembles wherever the original does; kernels
# keep room for the record. Without optimisation, which takes two thirds of the time and finds the
# same mistakes, and for every third file with each tool; all of it for make check-long.
# timeout: 900
set -u
cd "$ROOT" || exit 1
command -v ptxas >/dev/null || { echo "skip: ptxas is not installed"; exit 77; }
d=$TEST_DIR n=0 bad=0
level=-O0; [ "${TEST_SIZE:-}" = long ] && level=-O3
arch_of() {
  local t
  t=$(sed -n 's/^\.target *\(sm_[0-9a-z]*\).*/\1/p' "$1" | head -n 1)
  case $t in sm_[1-6][0-9] | sm_7[0-4] | "") echo sm_75 ;; *) echo "$t" ;; esac
}
while read -r f; do
  arch=$(arch_of "$f")
  ptxas -c $level -arch="$arch" -o /dev/null "$f" > /dev/null 2>&1 || continue
  number=$n
  for tool in count memcheck,initcheck fpcheck memcheck,fpcheck racecheck synccheck record; do
    number=$((number + 1))
    [ "${TEST_SIZE:-}" = long ] || [ $((number % 3)) = 0 ] || continue
    "$WARPGRIND" ptx --tool=$tool "$f" > "$d/tool.ptx" 2> "$d/err" &&
      ptxas -c $level -arch="$arch" -o /dev/null "$d/tool.ptx" > "$d/out" 2>&1 ||
      { echo "FAIL $tool $f"; head -n 3 "$d/err" "$d/out"; bad=1; }
  done
  n=$((n + 1))
done < <(find examples tests -name '*.ptx' ! -path '*/bad/*')
[ $bad = 0 ] && echo "ok $n files"

# Parameters: a kernel near the old limit becomes one of a version with a higher limit; at the new
# limit it is left alone.
kernel() { printf '.version %s\n.target %s\n.address_size 64\n.visible .entry k(.param .align 8 '\
'.b8 a[%d]) { .reg .b64 %%r; ld.param.u64 %%r, [a]; st.global.u64 [%%r], %%r; ret; }\n' "$@"; }
limit() {
  kernel "$2" "$3" "$4" > "$d/limit.ptx"
  "$WARPGRIND" ptx --tool=count "$d/limit.ptx" > "$d/limit.out" 2> "$d/limit.err"
  grep -qF -- "$5" "$d/limit.out" "$d/limit.err" && echo "ok $1" || { echo "FAIL $1: no '$5'"
    cat "$d/limit.err"; }
}
limit room 7.8 sm_75 4000 ".version 7.8"
limit raised 7.8 sm_75 4072 ".version 8.1"
limit full 8.1 sm_75 32760 "there is no room for the 96 of the launch record (the limit is 32764)"
limit old 5.0 sm_52 4080 "there is no room for the 96 of the launch record (the limit is 4096)"
limit oldest 5.0 sm_52 8 ".version 6.2"
