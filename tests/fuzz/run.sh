#!/usr/bin/env bash
# Builds each target of this folder with clang's libFuzzer and the sanitizers, and lets it run: as a
# test over the same FUZZ_INPUTS inputs every time, on every machine; under make fuzz for
# FUZZ_SECONDS from a new start (FUZZ_SEED=0). A crash is kept as $BUILD-fuzz/run/NAME/crash-…
# (make fuzz: $BUILD-fuzz/optimised/run/…); run the target on that file to see it again.
# timeout: 1800
# long: yes
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/annotations.sh
BUILD=${BUILD:-build} FUZZ_INPUTS=${FUZZ_INPUTS:-10000} FUZZ_SEED=${FUZZ_SEED:-1}
limit=${FUZZ_SECONDS:+-max_total_time=$FUZZ_SECONDS}
if ! command -v clang > /dev/null; then echo "clang is not installed"; exit 77; fi
if [ "${SAN:-0}" != 0 ]; then echo "the ordinary run fuzzes with sanitizers already"; exit 77; fi

# A lie about a size must not eat the machine.
flags="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined "\
"-DIMAGE_MAX_UNPACKED=16777216 -DTRACE_UNCOMPRESSED"
objects=$BUILD-fuzz
# As a test most of the time goes into compiling: four times less without optimising. make fuzz runs
# for long, with code of its own.
opt=-O0
if [ -n "${FUZZ_SECONDS:-}" ]; then opt=-O1 objects=$objects/optimised; fi
mkdir -p "$objects"
make -s -j2 CC=clang BUILD="$objects" OPT=$opt CFLAGS="$flags" lib-base lib-ptx lib-ir lib-weave \
  lib-tools lib-image lib-channel lib-symbol lib-store lib-trace lib-run lib-report \
  lib-tool_reports lib-diff lib-view > "$objects/build.log" 2>&1 ||
  { tail -n 20 "$objects/build.log"; echo "FAIL build"; exit 1; }

# A recorded run for the targets that change or ask one, made by the ordinary command.
run_file=$objects/run.wg
rm -f "$run_file"
if [ -x "$BUILD/warpgrind" ]; then
  ${CC:-gcc} -std=gnu11 -O1 -o "$objects/ptxhost" tests/lib/ptxhost.c -ldl -lm &&
    "$BUILD/warpgrind" --device=cpu --tool=memcheck --record -q -o "$run_file" -- \
      "$objects/ptxhost" tests/kernels/branches.ptx > /dev/null 2>&1
fi

for source in tests/fuzz/*.c; do
  name=$(basename "$source" .c) dir=$objects/run/$name
  rm -rf "$dir"; mkdir -p "$dir/corpus" "$dir/seeds"
  seeds=$(setting seeds "$source")
  # shellcheck disable=SC2046,SC2086
  [ -z "$seeds" ] || cp $(ls $seeds 2> /dev/null) "$dir/seeds/" 2> /dev/null
  if [ "$(setting needs "$source")" = "run file" ] && [ ! -e "$run_file" ]; then
    echo "skip $name: there is no $BUILD/warpgrind to record a run"; continue
  fi
  # shellcheck disable=SC2086
  clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    --rtlib=compiler-rt --unwindlib=libgcc -Isrc -Itests/trace -o "$dir/$name" "$source" \
    "$objects"/obj/lib{view,diff,report,run,tool_reports,report,run,trace,store,symbol,channel}.a \
    "$objects"/obj/lib{weave,tools,weave,ir,image,ptx,base}.a -lsqlite3 -ldw -lelf -lzstd -llz4 \
      -lm \
    -ldl -pthread || { echo "FAIL $name: does not build"; continue; }
  share=$(setting share "$source") share=${share#one in }      # of targets whose inputs take long
  if FUZZ_RUN_FILE=$run_file "$dir/$name" -seed="$FUZZ_SEED" \
    "${limit:--runs=$((FUZZ_INPUTS / ${share:-1}))}" -timeout=60 -rss_limit_mb=3000 -max_len=20000 \
    -print_final_stats=1 \
      -artifact_prefix="$dir/" "$dir/corpus" "$dir/seeds" > "$dir/log" 2>&1; then
    echo "ok $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log") inputs"
  else
    tail -n 40 "$dir/log"
    echo "FAIL $name: $(ls "$dir"/crash-* "$dir"/timeout-* "$dir"/oom-* "$dir"/leak-* 2> /dev/null |
      head -n 1)"
  fi
done
