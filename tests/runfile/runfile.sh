#!/usr/bin/env bash
# quick: yes
# The run file: what it holds, what the subcommands make of it, and what happens when it cannot be
# written.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
$CC -std=gnu11 -g -O1 -Wall -Isrc -o "$TEST_DIR/program" tests/runfile/program.c -L"$BUILD/lib" \
  -l:libcuda.so.1 -Wl,--allow-shlib-undefined || exit 1
cd "$TEST_DIR" || exit 1
w="$WARPGRIND --device=cpu --tool=none"
sql() { "$WARPGRIND" sql run.wg "${1//$'\n'/ }" | tail -n +2; }

check run                [ "$(code $w --tool=count -o run.wg ./program 3)" = 0 ]
check one_file           [ "$(echo run.wg*)" = run.wg ]
check launches           [ \
  "$(sql 'select number, grid_x, block_x, k.name from launch l join kernel k on k.id = l.kernel')" \
  = "$(printf '1\t1\t32\tset\n2\t1\t32\tset\n3\t1\t32\tset')" ]
check allocation         [ "$(sql "select size, kind, freed from allocation where size = 128")" = \
  "128	device	1" ]
check allocation_stack   [ "$(sql "select group_concat(function) from (select f.function from frame
  f join allocation a on a.stack = f.stack where a.size = 128 and f.function in ('make_buffer',
  'main') order by depth)")" = make_buffer,main ]
check launch_stack       grep -q 'program.c:[0-9]*$' <(sql "select f.file || ':' || f.line from
  frame f join launch l on l.stack = f.stack where f.function = 'main' limit 1")
check module             [ "$(sql 'select count(*) > 0, max(unloaded) from module')" = "1	1" ]
check kernel             [ "$(sql 'select launches, checked, covered from kernel')" = "3	3	1" ]
check coverage           [ "$(sql 'select kernel, launches, checked from coverage')" = "set	3	3" ]
check counts             [ \
  "$(sql "select sum(stores), sum(store_bytes) from count_row where kernel = 'set'")" = "96	384" ]
check count_classes      [ "$(sql "select sum(executed) from count_class where class = 'store'")" \
  = 96 ]
check process            [ "$(sql "select count(*), device, end from process")" = "1	cpu	in order" ]
check meta               [ "$(sql "select value from meta where key = 'tools'")" = count ]
check sqlite_agrees      [ "$(python3 -c 'import sqlite3
print(sqlite3.connect("run.wg").execute("select count(*) from launch").fetchone()[0])')" = 3 ]

# subcommands
check sql_reads_only     [ "$(code "$WARPGRIND" sql run.wg 'delete from launch')" = 125 ]
check sql_error          [ "$(code "$WARPGRIND" sql run.wg 'select nothing')" = 125 ]
check sql_usage          [ "$(code "$WARPGRIND" sql run.wg)" = 125 ]
check report             [ "$(code "$WARPGRIND" report run.wg)" = 0 ]
check report_counts      has err 'memory: 0 loads (0 bytes), 96 stores (384 bytes)'
check report_summary     has err 'ERROR SUMMARY: 0 errors from 0 places'
check dump               [ "$(code "$WARPGRIND" dump run.wg)" = 0 ]
check dump_tables        [ "$(grep -c '^# ' out)" = \
  "$(grep -c '^TABLE(' "$ROOT/src/run/schema.def")" ]
check dump_one           [ "$(code "$WARPGRIND" dump run.wg kernel; wc -l < out)" = "0
3" ]
check dump_unknown       [ "$(code "$WARPGRIND" dump run.wg nothing)" = 125 ]
echo "not a database" > other.wg
check not_a_run_file     [ "$(code "$WARPGRIND" report other.wg)" = 125 ]
check not_a_run_file_said has err 'other.wg is not a run file of Warpgrind'
check no_file            [ "$(code "$WARPGRIND" sql missing.wg 'select 1')" = 125 ]
check empty_file         [ "$(: > empty.wg; code "$WARPGRIND" dump empty.wg)" = 125 ]
cp run.wg new.wg
  python3 -c \
  'import sqlite3; c = sqlite3.connect("new.wg"); c.execute("pragma user_version=99"); c.commit()'
  "$ROOT/tests/lib/seal" new.wg
check newer_version      [ "$(code "$WARPGRIND" report new.wg)" = 125 ]
check newer_version_said has err 'was written by a newer version of Warpgrind'
cp run.wg two.wg
  python3 -c \
  'import sqlite3; c = sqlite3.connect("two.wg"); c.execute("pragma user_version=2"); c.commit()'
  "$ROOT/tests/lib/seal" two.wg
check older_version      [ "$(code "$WARPGRIND" report two.wg)" = 125 ]
check older_version_said has err 'was written by an older version of Warpgrind: its tables have '\
'version 2 and this Warpgrind reads versions 3 to 7'
head -c 9000 run.wg > cut.wg
check cut_file           [ "$(code "$WARPGRIND" report cut.wg)" = 125 ]

# names, and places that cannot be written
check name_with_pid      [ "$(code $w -o 'pid-%p.wg' ./program; echo pid-*.wg |
  grep -c 'pid-[0-9]*.wg')" = "0
1" ]
check without_tool       [ "$(code $w -o run.wg ./program 2; sql 'select count(*) from launch')" = \
  "0
2" ]
check no_stacks          [ "$(code $w -o run.wg --host-stacks=no ./program 2;
  sql 'select count(*) from stack')" = "0
0" ]
check no_folder          [ "$(code $w -o no/such/folder/run.wg ./program)" = 125 ]
check no_folder_said     has err 'cannot write the run file'
check is_a_folder        [ "$(mkdir folder.wg; code $w -o folder.wg ./program)" = 125 ]
check json_no_folder     [ "$(code $w --json=no/such/folder/x.json ./program)" = 125 ]

# full disk: the program is not disturbed, the report says what happened
check full_disk          [ \
  "$( (ulimit -Sf 400; code $w --tool=count --host-stacks=no -o run.wg ./program 30000) )" = 125 ]
check full_disk_said     grep -qE 'run file .*run.wg: (database or disk is full|disk I/O error)' err
check full_disk_program  has err 'exit code 0'
check full_disk_counted  has err 'kernel launches: 30000'

# the command is killed: what was there until then is in the file
$w --tool=count -o killed.wg ./program 1000 wait > ready 2> err &
pid=$!
wait_for grep -q ready ready
for _ in $(seq 300); do
  [ "$("$WARPGRIND" sql killed.wg 'select count(*) from launch' 2> /dev/null | tail -n 1)" = 1000 \
    ] && break; sleep 0.2
done
kill -KILL $pid; wait $pid 2> /dev/null
check killed_usable      [ "$("$WARPGRIND" sql killed.wg 'select count(*) from launch' |
  tail -n 1)" = 1000 ]
check killed_report      [ "$(code "$WARPGRIND" report killed.wg)" = 0 ]
check killed_report_said has err 'this run file was not finished'
