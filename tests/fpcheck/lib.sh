# For the scripts of this folder: which device, and how programs are built. TEST_DEVICE=gpu: in GPU
# mode. TEST_NVCC: more options of nvcc.
. tests/lib/check.sh
. tests/lib/annotations.sh
t=tests/fpcheck
device=${TEST_DEVICE:-cpu}

build() { # name arch options…: NAME-anything is built from NAME.cu
  local name=$1 arch=$2; shift 2
  # shellcheck disable=SC2086
  tests/lib/nvcc -lineinfo -gencode "arch=$arch,code=$arch" ${TEST_NVCC:-} "$@" -o \
    "$TEST_DIR/$name" "$t/${name%%-*}.cu" > "$TEST_DIR/$name.nvcc" 2>&1 ||
    { cat "$TEST_DIR/$name.nvcc"; echo "FAIL build $name"; exit 1; }
}
fp() {
  "$WARPGRIND" --device="$device" --tool=fpcheck --host-stacks=no --json="$TEST_DIR/report.json" \
    "$@"
}
plain() { "$WARPGRIND" --device="$device" --tool=none -q "$@"; }
# findings NAME [KIND]: those of the annotations of NAME.cu, without KIND, and nothing else
findings() {
  python3 tests/lib/findings.py "$t/$1.cu" "$TEST_DIR/report.json" --frame=outermost --total \
    ${2:+--without="$2"}
}
kinds() { python3 -c 'import json,sys; print(*["%s %d" % (f["kind"], f["count"]) for f in
  json.load(open(sys.argv[1]))["findings"]], sep="\n")' "$TEST_DIR/report.json" | sort; }
is() { [ "$1" = "$2" ] || { echo "expected: $2"; echo "found: $1"; return 1; }; }
