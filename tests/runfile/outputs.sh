#!/usr/bin/env bash
# quick: yes
# What an option may overwrite: -o only run files and empty files, reports and logs neither the
# program nor a run file. What holds memory contents is for its owner alone.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
$CC -std=gnu11 -g -O1 -Wall -Isrc -o "$TEST_DIR/program" tests/runfile/program.c -L"$BUILD/lib" \
  -l:libcuda.so.1 -Wl,--allow-shlib-undefined || exit 1
cd "$TEST_DIR" || exit 1
umask 022
w="$WARPGRIND --device=cpu --tool=none -q"
echo 'int main() { return 0; }' > source.cu
cp program kept; printf 'SQLite format 3' > nearly
python3 -c \
  'import sqlite3; c = sqlite3.connect("other.db"); c.execute("create table t (x)"); c.commit()'
ln -s source.cu link; ln -s nowhere dangling; mkfifo pipe; mkdir folder
mark() { echo "$1" > ran; }

# refused NAME FILE SENTENCE: before the program starts
refused() {
  cp -r "$2" copy 2> /dev/null
  check "$1"      [ "$(code $w -o "$2" ./program 1 > /dev/null; cat err | grep -c .)" = 1 -a \
    "$(code $w -o "$2" sh -c 'touch started; ./program')" = 125 -a ! -e started ]
  check "$1_said" has err "$3"
  [ ! -f "$2" ] || check "$1_kept" cmp "$2" copy
  rm -rf copy
}
refused source source.cu 'source.cu exists and is not a run file of Warpgrind: it is not replaced'
refused itself ./program 'program exists and is not a run file of Warpgrind'
refused nearly nearly 'nearly exists and is not a run file'
refused database other.db 'other.db exists and is not a run file'
refused folder folder 'it is not a file but a folder'
refused device /dev/null 'it is not a file but a device, pipe or socket'
refused link link 'link exists and is not a run file'
refused dangling dangling 'leads nowhere'
check pipe               [ "$(code timeout 20 $w -o pipe ./program)" = 125 ]

: > empty.wg
check empty              [ "$(code $w -o empty.wg ./program)" = 0 ]
check again              [ "$(code $w -o empty.wg ./program 2;
  "$WARPGRIND" sql empty.wg 'select count(*) from launch' | tail -n 1)" = "0
2" ]
ln -s empty.wg good_link
check link_to_run_file   [ "$(code $w -o good_link ./program 3;
  "$WARPGRIND" sql empty.wg 'select count(*) from launch' | tail -n 1)" = "0
3" -a -L good_link ]
gunzip -c "$ROOT/tests/runfile/format1/first.wg.gz" > old.wg
check format_1           [ "$(code $w -o old.wg ./program)" = 0 ]

# reports and logs
for option in --json --sarif --junit --log-file --launch-log; do
  check "program_$option"  [ "$(code $w $option=./program ./program)" = 125 ]
  check "run_file_$option" [ "$(code $w $option=empty.wg ./program)" = 125 ]
done
check overwrite_said     has err 'is a run file: it is not overwritten'
check program_kept       cmp program kept
echo old > report.json
check report_replaced    [ "$(code $w --json=report.json ./program; grep -c old report.json)" = "0
0" ]
check report_of_report   [ "$(code "$WARPGRIND" report empty.wg --json=empty.wg)" = 125 ]

# pages
mkdir site; echo mine > site/index.html
"$WARPGRIND" view --static site empty.wg > out 2> err
case $(cat err) in
  *"without the page"*) echo "skip static: this warpgrind was built without the page" ;;
  *)
    check static_refused [ "$(cat site/index.html)" = mine ]
    check static_said    has err 'holds a page that Warpgrind did not write'
    check static_twice   [ "$(code "$WARPGRIND" view --static page empty.wg) $(code "$WARPGRIND" \
      view --static page empty.wg)" = "0 0" ]
    check static_mode    [ "$(stat -c %a page)" = 700 ] ;;
esac

# modes
check mode               [ "$(stat -c %a empty.wg)" = 600 ]
check dumps              [ "$(code $w --dump-buffers=buffers ./program)" = 0 ]
check dumps_mode         [ "$(stat -c %a buffers/* | sort -u)" = 600 ]
check dumps_binary_mode  [ "$(code $w --dump-buffers=raw,binary ./program; stat -c %a raw/* |
  sort -u)" = "0
600" ]
