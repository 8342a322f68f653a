#!/usr/bin/env bash
# timeout: 300
# docs/new-tool.md, followed: one folder and one line make a tool that weaves, reports, and is in
# the help.
set -u
cd "$ROOT" || exit 1
. tests/lib/lesson.sh
objects=$(grep -rlE \
  'TOOL_COUNT_|tools/tools\.def|EACH_RUNNING_TOOL|tool_running|tools/([a-z]+/)?options\.h' src \
  --include='*.c' |
  sed -E 's#^src/##; s#\.c$#.o#; s#^tools/(.*/report[a-z_]*\.o)$#tool_reports/\1#')
# shellcheck disable=SC2086
follow_lesson docs/new-tool.md $objects || { echo "FAIL build"; exit 1; }
echo "ok build"
others=$(grep '^src/' "$TEST_DIR/changed" | grep -v '^src/tools/silent/')
if [ "$others" = src/tools/tools.def ]; then
  echo "ok one_folder_and_one_line"
else
  echo "FAIL one_folder_and_one_line: $others"
fi
warpgrind=$tree/$tree_build/warpgrind
if "$warpgrind" --help | grep -q 'silent.*find stores of the value that is already there'; then
  echo "ok help"
else
  "$warpgrind" --help | head -n 40; echo "FAIL help"
fi

cat > "$TEST_DIR/stores.ptx" << 'P'
//! buffer out u32 64 fill 7
//! launch stores grid=1 block=64 out
//! expect out[0] 7 7
//! expect out[2] 7
//! expect out[63] 8
.version 7.0
.target sm_75
.address_size 64
.visible .entry stores(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  setp.eq.u32 %p1, %r1, 63;
  mov.u32 %r2, 8;
  @%p1 st.global.u32 [%rd2], %r2;
  mov.u32 %r3, 7;
  setp.eq.u32 %p2, %r1, 1;
  @%p2 st.global.u32 [%rd2], %r3;
  setp.eq.u32 %p1, %r1, 2;
  @%p1 st.volatile.global.u32 [%rd2], %r3;
  ret;
}
P
. tests/lib/steps.sh
host=$(ptxhost)
"$warpgrind" --device=cpu --tool=silent --json="$TEST_DIR/json" "$host" "$TEST_DIR/stores.ptx" > \
  "$TEST_DIR/out" 2>&1
findings=$(python3 -c 'import json,sys; print([(f["kind"], f["severity"], f["count"], f["thread"])
  for f in json.load(open(sys.argv[1]))["findings"]])' "$TEST_DIR/json")
if [ "$findings" = "[('silent-store', 'warning', 1, [1, 0, 0])]" ]; then
  echo "ok finding"
else
  cat "$TEST_DIR/out"; echo "FAIL finding: $findings"
fi
"$warpgrind" --device=cpu --tool=silent --silent-volatile --json="$TEST_DIR/json" "$host" \
  "$TEST_DIR/stores.ptx" > "$TEST_DIR/more" 2>&1
threads=$(python3 -c \
  'import json,sys; print([f["thread"] for f in json.load(open(sys.argv[1]))["findings"]])' \
  "$TEST_DIR/json")
if [ "$threads" = "[[1, 0, 0], [2, 0, 0]]" ]; then
  echo "ok option"
else
  cat "$TEST_DIR/more"; echo "FAIL option: $threads"
fi
if "$warpgrind" --help | grep -q -- '--silent-volatile.*silent: also check volatile stores'
  then echo "ok option_help"; else echo "FAIL option_help"; fi
if grep -q 'Store of the value that is already there' "$TEST_DIR/out"; then
  echo "ok title"
else
  cat "$TEST_DIR/out"; echo "FAIL title"
fi
if "$warpgrind" --device=cpu --tool=silent,memcheck -q --log-file="$TEST_DIR/log" "$host" \
  "$TEST_DIR/stores.ptx" > "$TEST_DIR/out" 2>&1 || [ $? = 99 ]; then echo "ok with_memcheck"
  else cat "$TEST_DIR/out" "$TEST_DIR/log"; echo "FAIL with_memcheck"; fi
"$warpgrind" ptx --tool=silent "$TEST_DIR/stores.ptx" > "$TEST_DIR/woven.ptx"
if command -v ptxas > /dev/null; then
  if ptxas -arch=sm_75 -o "$TEST_DIR/woven.cubin" "$TEST_DIR/woven.ptx" > "$TEST_DIR/ptxas" 2>&1
    then echo "ok assembles"; else cat "$TEST_DIR/ptxas"; echo "FAIL assembles"; fi
fi
# the page's own tests
own() {
  mkdir "$TEST_DIR/$1"
  ( cd "$tree" && ROOT=$tree BUILD=$tree/$tree_build WARPGRIND=$warpgrind TEST_DIR=$TEST_DIR/$1 \
    bash "$tree/tests/$1/$2.sh" ) > "$TEST_DIR/$1.log" 2>&1
  if [ $? = 77 ]; then
    echo "skip own_$1: $(tail -n 1 "$TEST_DIR/$1.log")"
  elif grep -q '^ok' "$TEST_DIR/$1.log" && ! grep -q '^FAIL' "$TEST_DIR/$1.log"; then
    echo "ok own_$1"
  else
    cat "$TEST_DIR/$1.log"; echo "FAIL own_$1"
  fi
}
own silent silent
own report every_kind
