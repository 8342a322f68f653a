#!/usr/bin/env bash
# timeout: 600
# Things that go wrong around a program: it must behave as it would without us. On a GPU with
# GPU_DEVICE=gpu (gpu.sh), else through the driver proxy with the virtual device behind it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/check.sh
work=$TEST_DIR/trouble
rm -rf "$work"; mkdir -p "$work"
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
nvcc -w -g -o "$work/odd" tests/gpu/programs/parts/odd.c -lcuda -lpthread || exit 1
if [ -z "${GPU_DEVICE:-}" ]; then
  export WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so
  mkdir -p "$BUILD/tests"
  flock "$BUILD/tests" make -s BUILD="$BUILD" CC="${CC:-gcc}" SAN="${SAN:-0}" \
    "$WARPGRIND_REAL_DRIVER" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
fi
export WARPGRIND_CACHE_DIR=$work/cache
wg=("$WARPGRIND" --device=gpu --tool=none)
want=$'1920\nall checks passed'

# same TOOL options… -- : the program prints what it should and ends with 0
same() {
  local tool out code
  for tool in none count; do
    out=$(timeout 60 "${wg[@]}" --tool=$tool "$@" -- "$work/odd" plain 2> "$work/err"); code=$?
    [ "$out" = "$want" ] && [ $code = 0 ] || { echo "$tool: exit code $code, $out"
      tail -n 4 "$work/err"; return 1; }
  done
}
way() { # way, expected exit code, expected output
  local tool out code
  for tool in none count; do
    out=$(timeout 60 "${wg[@]}" --tool=$tool --log-file="$work/log" -- "$work/odd" "$1" 2> \
      "$work/err"); code=$?
    [ "$out" = "$3" ] && [ $code = "$2" ] || { echo "$tool: exit code $code, $out"
      tail -n 4 "$work/err" "$work/log"; return 1; }
  done
}

check "as usual" same --log-file="$work/log"
check "every file closed by the program" way close 0 "$want"
check "_exit while threads launch" way threads 4 1920
check "vfork and exec in between" way vfork 0 "$want"
daemon() {
  local tool
  for tool in none count; do
    rm -f "$work/result"
    timeout 60 "${wg[@]}" --tool=$tool --log-file="$work/log" -- "$work/odd" daemon "$work/result" \
      || return 1
    wait_for [ -s "$work/result" ]
    [ "$(cat "$work/result" 2> /dev/null)" = 1920 ] || { echo "$tool: no result"; return 1; }
  done
}
check "a child that works on after its parent has ended" daemon

# the cache
: > "$work/file"
cache() { WARPGRIND_CACHE_DIR=$1 same --log-file="$work/log"; }
check "the cache folder is a file" cache "$work/file"
check "the cache folder cannot be made" cache /proc/none/cache
check "no cache" cache ""
no_home() ( unset HOME XDG_CACHE_HOME WARPGRIND_CACHE_DIR; same --log-file="$work/log" )
check "no home folder" no_home
damaged() {
  same --log-file="$work/log" || return 1
  find "$work/cache" -type f | while read -r f; do "$1" "$f"; done
  same --log-file="$work/log"
}
garbage() { head -c "$(stat -c %s "$1")" /dev/urandom > "$1"; }
half() { truncate -s $(($(stat -c %s "$1") / 2)) "$1"; }
check "a damaged cache" damaged garbage
check "a truncated cache" damaged half
full_disk() {
  mkdir -p "$work/small"
  unshare -rm sh -c 'mount -t tmpfs -o size=16k none "$1" && head -c 20000 /dev/zero > "$1/fill"; '\
'shift; exec "$@"' sh "$work/small" \
    env WARPGRIND_CACHE_DIR="$work/small" timeout 60 "${wg[@]}" --tool=none --log-file="$work/log" \
      -- "$work/odd" plain > "$work/out" 2> "$work/err"
  [ "$(cat "$work/out")" = "$want" ]
}
if unshare -rm mount -t tmpfs none "$work" 2> /dev/null; then
  check "a full disk" full_disk
else
  echo "skip a full disk: no permission to mount one"
fi

# the report
report() { # its option: the program is not disturbed, and we say so
  local out code
  out=$(timeout 60 "${wg[@]}" --tool=count "$1" -- "$work/odd" plain 2> "$work/err"); code=$?
  [ "$out" = "$want" ] && { [ $code = 0 ] || [ $code = 125 ]; } || { echo "exit code $code: $out"
    tail -n 4 "$work/err"; return 1; }
}
check "a report that cannot be written" report --json=/dev/full
refused() {
  [ -z "$(timeout 60 "${wg[@]}" --tool=count --output=/nowhere/run.wg -- "$work/odd" plain 2> \
    "$work/err")" ] && grep -q "cannot write the run file" "$work/err"
}
check "a run file that cannot be written" refused
check "a log that cannot be written" report --log-file=/dev/full
closed() {
  local out; out=$(timeout 60 "${wg[@]}" --tool=count -- "$work/odd" plain 2>&-)
    [ "$out" = "$want" ]
}
check "standard error is closed" closed
few_files() ( ulimit -n 256; same --log-file="$work/log" )
check "few files may be open" few_files
# The user's library comes before the sanitizer's runtime, which it may with SAN=1.
preloaded() (
  export LD_PRELOAD=libm.so.6 ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
    same --log-file="$work/log"
)
check "the user preloads a library too" preloaded
tmp() ( export TMPDIR=/nowhere; same --log-file="$work/log" )
check "no folder for temporary files" tmp
