# Sourced by scripts that run a folder of annotated programs (docs/testing.md). The environment says
# how: TEST_DEVICE (cpu, gpu), TEST_ARCH, TEST_NVCC (more options of nvcc), TEST_ONLY (patterns of
# names), TEST_JOBS (so many at a time). A script defines `one FILE`, which builds and runs a
# program and calls judge, and ends with `programs FOLDER`.
. tests/lib/annotations.sh
device=${TEST_DEVICE:-cpu}

need() { command -v "$1" > /dev/null || { echo "$1 is not installed"; exit 77; }; }

# build FILE EXECUTABLE OPTION…: by nvcc, with what its annotations `nvcc:` and `arch:` say
build() {
  local file=$1 exe=$2 arch
  shift 2
  arch=$(setting arch "$file")
  arch=compute_${arch#compute_}
  [ "$arch" != compute_ ] || arch=compute_${TEST_ARCH:-75}
  # shellcheck disable=SC2046,SC2086
  tests/lib/nvcc -w -lineinfo -gencode "arch=$arch,code=$arch" -DARCH="${arch#compute_}" "$@" \
    ${TEST_NVCC:-} -o "$exe" "$file" $(setting nvcc "$file") > "$exe.nvcc" 2>&1 ||
    { cat "$exe.nvcc"; echo "FAIL $(basename "${file%.*}"): nvcc"; return 1; }
}

# excluded FILE: `device:` names the other device; one that has a reason says so
excluded() {
  local only
  only=$(setting device "$1")
  case ${only%% *} in "" | "$device") return 1 ;; esac
  case $only in *\ *) echo "skip $(basename "${1%.*}"): ${only#* }" ;; esac
}

# run DIR PREFIX COMMAND…: leaves PREFIXout, PREFIXerr and PREFIXcode in DIR
run() {
  local d=$1 prefix=$2
  shift 2
  "$@" > "$d/${prefix}out" 2> "$d/${prefix}err"
  echo $? > "$d/${prefix}code"
}

# run_plain DIR OPTION…: DIR/program without a tool
run_plain() {
  run "$1" none. timeout 120 "$WARPGRIND" --device="$device" --tool=none -q "${@:2}" -- "$1/program"
}

# run_tools DIR TOOLS OPTION…: DIR/program with tools, also those options that its annotations ask
# for
# shellcheck disable=SC2046
run_tools() {
  rm -f "$1/report.json"
  run "$1" "" timeout "${seconds:-200}" "$WARPGRIND" --device="$device" --tool="$2" \
    --json="$1/report.json" "${@:3}" \
    $(setting options "$file") -- "$1/program"
}

# judge NAME FILE DIR TOOLS OPTION…: see judge.py
judge() { python3 tests/lib/judge.py "$1" "$2" "$3" --device="$device" --tools="$4" "${@:5}"; }

# programs FOLDER: runs `one FILE` for each program, with $d a folder of its own, $name and $file;
# prints the results of each together
programs() {
  local file n=0
  while read -r file; do
    ( name=$(basename "${file%.*}")
      d=$TEST_DIR/$name
      mkdir -p "$d"
      excluded "$file" > "$d/results" || one "$file" > "$d/results" 2>&1
      flock "$TEST_DIR" cat "$d/results" ) < /dev/null &
    n=$((n + 1))
    [ $((n % ${TEST_JOBS:-1})) != 0 ] || wait
  done < <(chosen "$1")
  wait
}

# chosen FOLDER: the programs that TEST_ONLY names, or one in TEST_SHARE of all (make check-quick:
# one in three; make check-long: all), each together with its correct twin. Those with `long: yes`
# run in make check-long and on a GPU.
chosen() {
  local file files=("$1"/*.c "$1"/*.cu) only n=0 share=${TEST_SHARE:-1} base last=
  case ${TEST_SIZE:-} in quick) share=3 ;; long) share=1 ;; esac
  set -f
  for file in "${files[@]}"; do
    for only in ${TEST_ONLY:-}; do
      # shellcheck disable=SC2254
      case $(basename "${file%.*}") in $only) echo "$file" ;; esac
    done
    [ -z "${TEST_ONLY:-}" ] && [ -e "$file" ] || continue
    [ "${TEST_SIZE:-}" = long ] || [ "$device" = gpu ] || ! grep -q '^// long: yes$' "$file" ||
      continue
    base=${file%.*} base=${base%_ok}
    [ "$base" = "$last" ] || n=$((n + 1))
    last=$base
    [ $((n % share)) != $((share > 1)) ] || echo "$file"
  done
}
