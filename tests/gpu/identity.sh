#!/usr/bin/env bash
# timeout: 1500
# tests/gpu/identity.sh [pattern…]: programs that must not notice Warpgrind.
#
# Without a GPU (make check) every program that can runs on the virtual device and checks its own
# results. On a GPU (GPU_DEVICE=gpu, set by gpu.sh) each runs twice plain; if those agree, it must
# print the same and end the same way under --tool=none, with a tool, and on the virtual device, and
# coverage must say what the program's head says:
#
#   nvcc: gencode: files: cflags:   how to build it (default: PTX and machine code for sm_90,
#                                   -lineinfo)
#   lineinfo: no                    -lineinfo also puts the PTX text into the machine code
#   env: args: exit:                how to run it
#   coverage:   all | uncovered | nothing | any: what --tool=none must report;
#               coverage-with-tool: the same with a tool
#   note:       a text that coverage must contain
#   finding:    with a tool this is a finding, so the exit code may be 99; a tool that prevents it
#               changes the output
#   cpu:        no, and why; or "approximate functions": results differ from a GPU's in the last
#               bits
#   needs:      a Python module (scripts only)
#   seconds:    time limit of one run (60)
#
# GPU_TOOL: the tool (count). GPU_DEVICE=cpu GPU_FAKE=1 lets the virtual device play the GPU, to
# test this script. JOBS: runs at a time. VARIANTS: which of none, tool and cpu. CORPUS=1: other
# programs of this tree too.
set -u
cd "$(dirname "$0")/../.." || exit 1
device=${GPU_DEVICE:-} fake=${GPU_FAKE:-}
jobs=${JOBS:-$([ -n "$device" ] && echo 8 || echo 2)}
variants=${VARIANTS:-none tool cpu}
work=${TEST_DIR:?}/programs
export TEST_FILE
. tests/lib/steps.sh
nvcc=$(command -v nvcc) || { echo "skipped: nvcc is not installed"; exit 77; }
root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
for d in "$root/lib64" "$root/lib"; do
  [ -e "$d/libnvrtc.so" ] && export LD_LIBRARY_PATH="$d${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" &&
    break
done
# With SAN=1 a program that crashes must still die by the signal, not in the sanitizer's handler.
[ "${SAN:-0}" = 0 ] ||
  export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0:handle_sigbus=0"
mkdir -p "$work"
shopt -s nullglob
standin=
# make check: GPU mode too, for programs that need no CUDA runtime
if [ -z "$device" ]; then
  standin=$BUILD/tests/libcuda-standin.so
  export WARPGRIND_CACHE_DIR=$TEST_DIR/cache
  mkdir -p "$BUILD/tests"
  flock "$BUILD/tests" make -s BUILD="$BUILD" CC="${CC:-gcc}" SAN="${SAN:-0}" "$standin" > \
    "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
fi

of() { TEST_FILE=$1 setting "$2"; }
wanted() {
  [ ${#patterns[@]} = 0 ] && return 0; local p; for p in "${patterns[@]}"
    do case $1 in *$p*) return 0 ;; esac; done; return 1
}
patterns=("$@")

# shellcheck disable=SC2046,SC2086
build() { # file, executable
  local f=$1 gencode lines=-lineinfo more= x
  [ "$(of "$f" lineinfo)" = no ] && lines=
  gencode=$(of "$f" gencode)
  if [ -z "$gencode" ] && [ -n "$(of "$f" arch)" ]; then
    gencode="-gencode arch=$(of "$f" arch),code=$(of "$f" arch)"
  fi
  if [ -z "$gencode" ]; then
    gencode="-gencode arch=compute_90,code=compute_90"
    [ -n "$device" ] && [ -z "$fake" ] &&
      gencode="-gencode arch=compute_90,code=compute_90 -gencode arch=compute_90,code=sm_90"
  fi
  for x in $(of "$f" files); do more+=" $(dirname "$f")/$x"; done
  case $f in
    *.c) nvcc -w -O1 -g -o "$2" "$f" -lcuda $(of "$f" cflags) ;;
    *) tests/lib/nvcc -w -O3 $lines $gencode -I tests/gpu/programs -o "$2" "$f" $more \
      $(of "$f" nvcc) ;;
  esac
}

# run DIR VARIANT command…: its output and exit code are files of DIR
run() {
  local d=$1 v=$2 limit=$3; shift 3
  timeout --kill-after=5 "$limit" "$@" > "$d/$v.out" 2> "$d/$v.err" < /dev/null
  echo $? > "$d/$v.code"
}
same() { cmp -s "$1/$2.out" "$1/$3.out" && cmp -s "$1/$2.code" "$1/$3.code"; }
differ() { # what differs, in a few lines
  echo "exit code $(cat "$1/$2.code"), with $3 $(cat "$1/$3.code")"
  diff "$1/$2.out" "$1/$3.out" | head -n 6
  tail -n 3 "$1/$3.err"
  [ -e "$1/$3.log" ] && tail -n 4 "$1/$3.log"
}
coverage() { # what the program's head asks for, the JSON report, the log
  local json
  [ "$1" = any ] && [ -z "${4:-}" ] && return 0
  json=$(tr -d ' \n' < "$2") 2>/dev/null || { echo "there is no JSON report"; return 1; }
  case $1 in
    all) [[ $json == *'"uncovered":[]'* && $json != *'"launches":0,'* ]] ||
      { echo "kernels are uncovered"; grep -o '"uncovered":\[.*' <<< "$json" | head -c 300
      return 1; } ;;
    uncovered) [[ $json == *'"uncovered":[{'*'"reason":"'* ]] ||
      { echo "uncovered kernels are not named"; return 1; } ;;
    nothing) [[ $json == *'"launches":0,'* ]] || { echo "launches where there are none"; return 1
      } ;;
  esac
  [ -z "${4:-}" ] || grep -qF -- "$4" "$2" "$3" || { echo "coverage does not say '$4'"; return 1; }
}

# prevented TOOL CODE: the program's fault did not happen, since the tool has reported it before
prevented() { [ "$1" != count ] && [ "$2" = 99 ] && [ -n "$(of "$f" finding)" ]; }

# The part of `one` that make check runs, with the variables of `one`: the virtual device alone.
# shellcheck disable=SC2086
on_virtual_device() {
  if [[ $cpu == no* || $f == *.py ]]; then echo "skip $name: ${cpu:-needs a GPU}"; return; fi
  for tool in none $tool; do
    [[ $variants == *tool* ]] || [ $tool = none ] || continue
    run "$d" $tool $limit env $vars "$WARPGRIND" --device=cpu --tool=$tool \
      --log-file="$d/$tool.log" -- "${command[@]}"
    local got; got=$(cat "$d/$tool.code")
    if [ "$got" != "${expected:-0}" ] && ! { [ $tool != none ] && [ "$got" = 99 ] &&
      [ -n "$(of "$f" finding)" ]; }; then
      failed+=" $tool: exit code $got"
    elif [ $tool != none ] && ! prevented $tool "$got" && ! cmp -s "$d/none.out" "$d/$tool.out"
      then failed+=" $tool: other output"
    fi
    # through the driver proxy, with the virtual device behind it
    [[ $f == *.c ]] && [ -n "$standin" ] || continue
    run "$d" proxy $limit env $vars WARPGRIND_REAL_DRIVER="$standin" "$WARPGRIND" --device=gpu \
      --tool=$tool --log-file="$d/proxy.log" --json="$d/proxy.json" -- "${command[@]}"
    local why
    if ! cmp -s "$d/proxy.code" "$d/$tool.code" || { [ "$cpu" != "approximate functions" ] &&
      ! cmp -s "$d/proxy.out" "$d/$tool.out"; }; then
      failed+=" $tool through the proxy: exit code $(cat "$d/proxy.code")"
    elif ! why=$(coverage "${want:-any}" "$d/proxy.json" "$d/proxy.log")
      then failed+=" $tool through the proxy: coverage: $why"
    fi
  done
  if [ -n "$failed" ]; then
    echo "FAIL $name:$failed"; tail -n 5 "$d"/*.out "$d"/*.err "$d"/*.log | head -n 40
  else
    echo "ok $name"; rm -rf "$d"
  fi
}

# shellcheck disable=SC2046,SC2086
one() { # a file: builds it, runs it in every way, prints one result line
  local f=$1 name d exe limit vars failed= done= expected cpu want tool=${GPU_TOOL:-count}
  name=$(basename "$f"); name=${name%.*}
  case $f in tests/gpu/*) ;; *) name=$(basename "$(dirname "$f")")-$name ;; esac
  d=$work/$name; rm -rf "$d"; mkdir -p "$d"
  limit=$(of "$f" seconds); limit=${limit:-60}
  [ -z "$device" ] && limit=$((limit * 5))
  cpu=$(of "$f" cpu); want=$(of "$f" coverage)
  vars=$(of "$f" env) expected=$(of "$f" exit)
  local command plain=() under=("$WARPGRIND" --device=${device:-cpu} --tool)
  [ -n "$fake" ] && plain=("$WARPGRIND" --device=cpu --tool=none -q)
  case $f in
    *.py) command=(python3 "$f")
          python3 -c "import $(of "$f" needs)" 2> /dev/null ||
            { echo "skip $name: python has no $(of "$f" needs)"; return; } ;;
    *) exe=$d/$name
       if [ -n "$device" ] || [[ $cpu != no* ]]; then
         build "$f" "$exe" > "$d/build.out" 2>&1 ||
           { echo "FAIL $name: nvcc: $(grep -m 1 -i error "$d/build.out")"; return; }
       fi
       command=("$exe") ;;
  esac
  command+=($(of "$f" args))
  # Caches of frameworks: every plain run has its own here, so that nothing of the user's is used or
  # changed, and so that what a framework chooses by timing counts as a difference between plain
  # runs.
  local caches="TRITON_CACHE_DIR=$d/triton TORCHINDUCTOR_CACHE_DIR=$d/inductor "\
"CUPY_CACHE_DIR=$d/cupy XLA_PYTHON_CLIENT_PREALLOCATE=false"

  [ -n "$device" ] || { on_virtual_device; return; }
  run "$d" plain $limit env $vars $caches "${plain[@]}" "${command[@]}"
  if [ "$(cat "$d/plain.code")" != "${expected:-0}" ]; then
    echo "FAIL $name: plain: exit code $(cat "$d/plain.code"), expected ${expected:-0}: $(tail -n \
      1 "$d/plain.out") $(tail -n 1 "$d/plain.err")"; return
  fi
  run "$d" again $limit env $vars ${caches//"$d/"/"$d/again-"} "${plain[@]}" "${command[@]}"
  same "$d" plain again || { echo "skip $name: two plain runs differ"; return; }
  local v why
  for v in $variants; do
    case $v in
      none) run "$d" none $limit env $vars "${under[@]}=none" --log-file="$d/none.log" \
        --json="$d/none.json" -- "${command[@]}"
            if ! same "$d" plain none; then failed+=" none"; differ "$d" plain none
            elif [ -z "$fake" ] && [[ $f != *.py ]] && ! cmp -s "$d/plain.err" "$d/none.err"
              then failed+=" none(stderr)"; diff "$d/plain.err" "$d/none.err" | head -n 6
            elif [ -z "$fake" ] && ! why=$(coverage "${want:-any}" "$d/none.json" "$d/none.log" \
              "$(of "$f" note)"); then failed+=" none(coverage: $why)"
            else done+=" none"; fi ;;
      tool) run "$d" tool $((limit * 2)) env $vars "${under[@]}=$tool" --log-file="$d/tool.log" \
        --json="$d/tool.json" -- "${command[@]}"
            prevented $tool "$(cat "$d/tool.code")" && cp "$d/plain.out" "$d/tool.out"
            [ -n "$(of "$f" finding)" ] && [ "$(cat "$d/tool.code")" = 99 ] &&
              cp "$d/plain.code" "$d/tool.code"
            why=$(of "$f" coverage-with-tool)
            if ! same "$d" plain tool; then failed+=" $tool"; differ "$d" plain tool
            elif [ -z "$fake" ] && ! why=$(coverage "${why:-${want:-any}}" "$d/tool.json" \
              "$d/tool.log"); then failed+=" $tool(coverage: $why)"
            else done+=" $tool"; fi ;;
      cpu)  if [[ $cpu == no* || $f == *.py ]]; then continue; fi
            run "$d" cpu $((limit * 2)) env $vars "$WARPGRIND" --device=cpu --tool=none \
              --log-file="$d/cpu.log" -- "${command[@]}"
            if [ "$cpu" = "approximate functions" ] && cmp -s "$d/plain.code" "$d/cpu.code"
              then done+=" cpu(code)"
            elif same "$d" plain cpu; then done+=" cpu"
            else failed+=" cpu"; differ "$d" plain cpu; fi ;;
    esac
  done
  if [ -n "$failed" ]; then
    echo "FAIL $name:$failed (equal:$done)"
  else
    echo "ok $name:$done"; rm -rf "$d"
  fi
}

list=(tests/gpu/programs/*.cu tests/gpu/programs/*.c)
[ -n "$device" ] && list+=(tests/gpu/programs/*.py)
[ -n "${CORPUS:-}" ] && list+=(tests/runtime/*.cu tests/kernels/*.cu examples/*/*_ok.cu)
running=0
for f in "${list[@]}"; do
  wanted "$f" || continue
  while [ $running -ge "$jobs" ]; do wait -n; running=$((running - 1)); done
  # One write for each program, so that the lines of two do not mix.
  { text=$(one "$f" 2>&1); printf '%s\n' "$text"; } &
  running=$((running + 1))
done
wait
