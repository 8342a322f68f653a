#!/usr/bin/env bash
# quick: yes
# timeout: 600
# tests/api/programs: CUDA calls that are wrong, and programs that do the same rightly. Lines `finds: KIND TEXT` (finds-cpu: on the virtual device
# only) of a program are all the findings it must have, in any order, addresses replaced by 0x…; one without such lines must be silent. Programs in C use the driver's
# interface and run on the virtual device and, with that in the role of the real driver, through GPU mode: what they find is the same.
# Programs in CUDA run on the virtual device only. `exit: N` is the exit code of the program itself, 0 if not given.
# API_DEVICE=gpu: all of them on a real GPU (gpu.sh).
set -u
cd "$ROOT" || exit 1
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
standin=$BUILD/tests/libcuda-standin.so
if [ -z "${API_DEVICE:-}" ]; then
  flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$standin" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
  export WARPGRIND_REAL_DRIVER=$standin WARPGRIND_CACHE_DIR=$TEST_DIR/cache
fi

build() {
  case $1 in
    *.c) # shellcheck disable=SC2086
      $CC -std=gnu11 -g -O1 -w $san -pthread -Isrc -Itests/driver -o "$2" "$1" -L"$BUILD/lib" -l:libcuda.so.1 -Wl,-rpath,"$BUILD/lib" ;;
    *.cu) # shellcheck disable=SC2046
      tests/lib/nvcc -w -g -lineinfo -gencode arch=compute_75,code=compute_75 $(sed -n 's#^// nvcc: ##p' "$1") -o "$2" "$1" ;;
  esac
}

findings() {
  python3 - "$1" << 'P'
import json, re, sys
for f in json.load(open(sys.argv[1]))["findings"]: print(f["kind"], re.sub("0x[0-9a-f]+", "0x…", f.get("text") or f.get("message") or ""))
P
}

# run NAME DEVICE FILE PROGRAM
run() {
  local d=$TEST_DIR/$1/$2 code want
  mkdir -p "$d"
  "$WARPGRIND" --device="$2" --tool=memcheck --json="$d/report.json" -- "$4" > "$d/out" 2> "$d/err"; code=$?
  sed -n "s#^// finds: ##p; s#^// finds-$2: ##p" "$3" | sort > "$d/want"
  findings "$d/report.json" | sort > "$d/got" || { tail -n 20 "$d/err"; echo "FAIL $1 $2: no report"; return; }
  want=$(sed -n 's#^// exit: ##p' "$3"); want=${want:-0}
  grep -q '^api-misuse' "$d/want" && want=99
  if ! diff "$d/want" "$d/got" > "$d/diff"; then cat "$d/diff" "$d/out"; echo "FAIL $1 $2: other findings"
  elif [ $code != "$want" ]; then cat "$d/out"; tail -n 20 "$d/err"; echo "FAIL $1 $2: exit code $code, expected $want"
  else echo "ok $1 $2"; fi
}

for f in tests/api/programs/*.c tests/api/programs/*.cu; do
  [ -e "$f" ] || continue
  name=$(basename "$f"); name=${name%.*}
  mkdir -p "$TEST_DIR/$name"
  case $f in *.cu) command -v nvcc > /dev/null || { echo "skip $name: nvcc is not installed"; continue; } ;; esac
  build "$f" "$TEST_DIR/$name/program" > "$TEST_DIR/$name/build" 2>&1 || { cat "$TEST_DIR/$name/build"; echo "FAIL $name: does not compile"; continue; }
  if [ -n "${API_DEVICE:-}" ]; then run "$name" "$API_DEVICE" "$f" "$TEST_DIR/$name/program"; continue; fi
  run "$name" cpu "$f" "$TEST_DIR/$name/program"
  case $f in *.c) run "$name" gpu "$f" "$TEST_DIR/$name/program" ;; esac
done
