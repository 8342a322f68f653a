# Builds the programs of tests/diff/programs and runs them with hashes. DIFF_DEVICE: cpu or gpu.
DIFF_DEVICE=${DIFF_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "skip $(basename "$0" .sh): needs nvcc"; exit 77; }
# built PROGRAM…: into $TEST_DIR; from $DIFF_BUILT where somebody has built them
built() {
  local p
  for p in "$@"; do
    if [ -x "${DIFF_BUILT:-/nowhere}/$p" ]; then
      cp -p "$DIFF_BUILT/$p" "$TEST_DIR/$p"
      continue
    fi
    tests/lib/nvcc -g -lineinfo -arch=compute_75 ${DIFF_NVCC:-} -o "$TEST_DIR/$p" \
      "tests/diff/programs/$p.cu" > "$TEST_DIR/$p.log" 2>&1 || { cat "$TEST_DIR/$p.log"; return 1; }
  done
}
# hashed FILE PROGRAM ARGUMENT…: runs it, with more options in $OPTIONS; DIFF_HASH: which launches
hashed() {
  local file=$1 program=$2
  shift 2
  timeout 120 "$WARPGRIND" -q --device="$DIFF_DEVICE" --hash="${DIFF_HASH:-every}" -o \
    "$TEST_DIR/$file" ${OPTIONS:-} "$TEST_DIR/$program" "$@" > "$TEST_DIR/$file.out" 2>&1 ||
    { cat "$TEST_DIR/$file.out"; return 1; }
}
# compared CODE FILE FILE OPTION…: the exit code must be this one; what it said is in $TEST_DIR/said
compared() {
  local wanted=$1 a=$2 b=$3 got
  shift 3
  timeout 120 "$WARPGRIND" diff "$@" "$TEST_DIR/$a" "$TEST_DIR/$b" > "$TEST_DIR/said" 2>&1
  got=$?
  [ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted:"; cat "$TEST_DIR/said"; return 1; }
}
said() {
  grep -qF -- "$1" "$TEST_DIR/said" || { echo "it does not say: $1"; cat "$TEST_DIR/said"; return 1
    }
}
not_said() {
  ! grep -qF -- "$1" "$TEST_DIR/said" || { echo "it says: $1"; cat "$TEST_DIR/said"; return 1; }
}
# result NAME: of the commands before, joined by &&
result() { if [ $? = 0 ]; then echo "ok $1"; else echo "FAIL $1"; fi; }
ask() { "$WARPGRIND" sql "$TEST_DIR/$1" "$2" | tail -n +2; }
