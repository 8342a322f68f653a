#!/usr/bin/env bash
# timeout: 600
# Damaged and hostile run files: single bits, files that were cut, objects in place of tables,
# values of other types, a -wal that is damaged or was left behind. FLIPS and SHARE scale it:
# FLIPS=1000 SHARE=1 is the whole attack; `make check-long` makes a good part of it.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
for p in recorded program; do
  $CC -std=gnu11 -g -O1 -Wall -Isrc -o "$TEST_DIR/$p" tests/runfile/$p.c -L"$BUILD/lib" \
    -l:libcuda.so.1 -Wl,--allow-shlib-undefined || exit 1
done
[ "${TEST_SIZE:-}" = long ] && : "${FLIPS:=1000}" "${SHARE:=10}"
: "${FLIPS:=12}" "${SHARE:=500}" "${FLIP_SEED:=1}"
flips() {
  python3 tests/runfile/flips.py "$WARPGRIND" "$2" "$3" "$TEST_DIR" "$4" "$FLIP_SEED" |
    sed "s/^\(ok\|FAIL\|skip\) /&$1-/"
}
w="$WARPGRIND --device=cpu --workers=1 -q"
cd "$TEST_DIR" || exit 1
$w --record -o one.wg ./recorded > /dev/null 2>&1
$w --record -o two.wg ./recorded 101 > /dev/null 2>&1
$w --tool=count --hash -o hash1.wg ./recorded > /dev/null 2>&1
$w --tool=count --hash -o hash2.wg ./recorded > /dev/null 2>&1
check mode               [ "$(stat -c %a one.wg)" = 600 ]
check version            [ "$("$WARPGRIND" sql one.wg 'pragma user_version' | tail -n 1)" = 7 ]
cd "$ROOT" || exit 1
flips recorded "$TEST_DIR/one.wg" "$TEST_DIR/two.wg" "$FLIPS"
flips hashes "$TEST_DIR/hash1.wg" "$TEST_DIR/hash2.wg" "$FLIPS"
python3 tests/runfile/hostile.py "$WARPGRIND" "$TEST_DIR/one.wg" "$TEST_DIR" "$SHARE" tests/lib/seal
cd "$TEST_DIR" || exit 1

# a byte of the file is missing, or many
"$WARPGRIND" dump one.wg > whole.txt
for n in 1 100 40000 500000 1000000; do
  head -c -$n one.wg > cut.wg
  cut=$(code "$WARPGRIND" dump cut.wg)
  check cut_$n           [ "$cut" = 125 -o "$cut" = 0 -a "$(cmp whole.txt out)" = "" ]
done
check damage_said        has err damaged
# an extension of sqlite3 compares pages as well
if command -v sqlite3 > /dev/null && [ "${SAN:-0}" = 0 ]; then
  at=$("$WARPGRIND" sql one.wg \
    "select (rootpage - 1) * 32768 + 32000 from sqlite_schema where name = 'trace_block'" |
    tail -n 1)
  cp one.wg bit.wg; python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(int(sys.argv[2]))
b = f.read(1); f.seek(-1, 1); f.write(bytes([b[0] ^ 8]))' bit.wg "$at"
  check extension        [ \
    "$(sqlite3 one.wg ".load $BUILD/lib/warpgrind_sqlite.so" 'select count(*) from access')" = 448 ]
  sqlite3 bit.wg ".load $BUILD/lib/warpgrind_sqlite.so" 'select count(*) from access' > out 2> err
  check extension_damage has err 'the file is damaged: page'
fi

# a note without a text
cp one.wg note.wg
python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("INSERT INTO note
  VALUES (9999, 1, \"note\", NULL)"); db.commit()' note.wg
"$ROOT/tests/lib/seal" note.wg
for form in json sarif junit; do
  check note_$form [ "$(code "$WARPGRIND" report --$form=note.$form note.wg)" -lt 125 ]
done

# The command is killed: the file and its -wal belong together.
$w --tool=count -o killed.wg ./program 1000 wait > ready 2> /dev/null &
pid=$!
wait_for grep -q ready ready
count() { "$WARPGRIND" sql "$1" 'select count(*) from launch' 2> "$TEST_DIR/err" | tail -n 1; }
is_complete() { [ "$(count killed.wg)" = 1000 ]; }
wait_for is_complete
kill -KILL $pid; wait $pid 2> /dev/null
check wal_mode           [ "$(stat -c %a killed.wg killed.wg-wal | sort -u)" = 600 ]
cd "$ROOT" && flips killed "$TEST_DIR/killed.wg" "$TEST_DIR/hash1.wg" "$((FLIPS / 2))"
  cd "$TEST_DIR" || exit 1
mkdir moved; cp killed.wg moved
check wal_missing        [ "$(code "$WARPGRIND" report moved/killed.wg)" = 125 ]
check wal_missing_said   has err 'there is no moved/killed.wg-wal beside it'
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
  as_nobody() { setpriv --reuid=65534 --clear-groups "$@"; }
  read_only=$(mktemp -d)
  mkdir "$read_only/f"; cp killed.wg killed.wg-wal one.wg "$read_only/f"
    chmod 644 "$read_only"/f/*; chmod 555 "$read_only/f"; chmod 755 "$read_only"
  if as_nobody test -x "$WARPGRIND"; then
    check read_only_folder [ \
      "$(as_nobody "$WARPGRIND" sql "$read_only/f/killed.wg" 'select count(*) from launch' |
      tail -n 1)" = 1000 ]
    check read_only_whole  [ \
      "$(as_nobody "$WARPGRIND" sql "$read_only/f/one.wg" 'select count(*) from access' |
      tail -n 1)" = 448 ]
  else
    echo "skip read_only_folder: the command cannot be run by another user here"
  fi
  rm -rf "$read_only"
else
  echo "skip read_only_folder: needs root and setpriv"
fi
# Another program may finish the file.
python3 -c \
  'import sqlite3; sqlite3.connect("killed.wg").execute("select count(*) from launch").fetchone()'
check finished_by_other  [ "$(count killed.wg)" = 1000 ]
