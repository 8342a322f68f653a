#!/usr/bin/env bash
# quick: yes
# The command line: options, exit codes, signals, log files, JSON. Needs no kernel.
set -u
. tests/lib/check.sh
w=$WARPGRIND d=$TEST_DIR
cd "$d" || exit 1


check exit_code            [ "$(code "$w" sh -c 'exit 7')" = 7 ]
check summary              has err 'ERROR SUMMARY: 0 errors from 0 places'
check default_tool         grep -qE '^==[0-9]+== coverage \(memcheck\): 0 launches' err
check nothing_checked      grep -qE '^==[0-9]+== NOTHING WAS CHECKED$' <(tail -n 1 err)
check quiet_code           [ "$(code "$w" -q sh -c 'exit 3')" = 3 ]
check quiet_says_nothing   [ ! -s err ]
check arguments            [ "$("$w" -q -- sh -c 'printf "%s|" "$@"' x 'a b' '' --seed=3)" = \
  'a b||--seed=3|' ]
check not_found            [ "$(code "$w" ./no-such-program)" = 127 ]
check not_found_in_path    [ "$(code "$w" no-such-program)" = 127 ]
echo text > plain
check not_executable       [ "$(code "$w" ./plain)" = 126 ]
check folder               [ "$(code "$w" /)" = 126 ]
check killed               [ "$(code "$w" sh -c 'kill -KILL $$')" = 137 ]
check killed_says_signal   has err 'signal 9'
check no_program           [ "$(code "$w")" = 125 ]
check unknown_option       [ "$(code "$w" --sed=1 true)" = 125 ]
check unknown_option_guess has err 'did you mean --seed'
check bad_number           [ "$(code "$w" --workers=many true)" = 125 ]
check tool_not_there       [ "$(code "$w" --tool=count,nosuchtool true)" = 125 ]
check tool_names_available grep -q 'The tools are: none,.*count' err
check unknown_tool         [ "$(code "$w" --tool=leakcheck true)" = 125 ]
check gpu_not_there        [ "$(WARPGRIND_REAL_DRIVER=$TEST_DIR/none.so code "$w" --device=gpu \
  true)" = 125 ]
check bad_environment      [ "$(code env WARPGRIND_DEVICES=0 "$w" true)" = 125 ]
check environment_named    has err 'WARPGRIND_DEVICES'
check option_with_space    [ "$(code "$w" --workers 1 --tool none true)" = 0 ]
check script               [ "$(printf '#!/bin/sh\nexit 5\n' > s; chmod +x s; code "$w" ./s)" = 5 ]
check stdin_passes         [ "$(echo hello | "$w" -q cat)" = hello ]

# every option is in the help, the manual page and the environment
"$w" --help > help.txt; "$w" --man > man.txt
for o in $(sed -n 's/^OPTION([A-Z_]*, *"\([a-z-]*\)".*/\1/p' "$ROOT"/src/*/options.def \
  "$ROOT"/src/tools/*/options.def); do
  grep -q -- "--$o" help.txt && sed 's/\\//g' man.txt | grep -q -- "--$o" || echo "FAIL help_$o"
done
check help_and_man         [ -s help.txt ]
check help_of_recording    grep -q -- '--record-disk=MB' help.txt
check version              grep -qE '^warpgrind [0-9]+\.[0-9]+' <("$w" version)

# log file: %p and %q, absolute although the program changes its folder
export WG_TEST_WORD=word
code "$w" --log-file='log-%q{WG_TEST_WORD}-%p' sh -c 'cd /; exit 0' > /dev/null
check log_file             has "$(echo log-word-*)" 'NOTHING WAS CHECKED'
check log_file_not_stderr  [ ! -s err ]
code "$w" --log-file=same true > /dev/null; code "$w" --log-file=same true > /dev/null
check log_file_starts_anew [ "$(grep -c 'NOTHING WAS CHECKED' same)" = 1 ]
check log_file_impossible  [ "$(code "$w" --log-file=no/such/folder/log true)" = 125 ]
check log_file_unset       [ "$(code "$w" --json='%q{WG_NO_SUCH}' true)" = 125 ]
code "$w" --json=run.json sh -c 'exit 4' > /dev/null
check json                 has run.json '"findings":[],"exit_code":4}'

# a program that the library cannot be loaded into
if printf 'int main(void){return 3;}' | $CC -static -x c -o static_program - 2> /dev/null; then
  check static_program     [ "$(code "$w" ./static_program)" = 125 ]
  check static_reason      grep -q 'static' err
else
  echo "skip static_program: no static libc"
fi

# the environment of the program
# (the address sanitizer insists on being first in the command's own LD_PRELOAD)
if [ "$SAN" = 0 ]; then
  check preload_kept         grep -q 'libcuda.so.1:libm.so.6' <(LD_PRELOAD=libm.so.6 "$w" -q sh -c \
    'echo $LD_PRELOAD')
fi
check children_traced      grep -q libcuda.so.1 <("$w" -q sh -c 'sh -c "echo \$LD_PRELOAD"')
check children_untraced    [ -z "$("$w" -q --trace-children=no sh -c 'sh -c "echo \$LD_PRELOAD"' |
  grep libcuda)" ]

# a signal sent to the command reaches the program; the summary still comes
"$w" sh -c 'trap "echo got it; exit 9" TERM; echo ready; while :; do sleep 0.05; done' > out 2> \
  err &
pid=$!
wait_for grep -q ready out
kill -TERM $pid; wait $pid
check term_forwarded       [ $? = 9 ]
check term_summary         has err 'NOTHING WAS CHECKED'

# Ctrl-C: the terminal signals the whole process group. setsid makes the command the leader of one.
env --default-signal=INT setsid "$w" sh -c 'echo $$ > sleeper; exec sleep 30' 2> err &
pid=$!
wait_for [ -s sleeper ]
kill -INT -- "-$pid"; wait $pid
check interrupt_code       [ $? = 130 ]
check interrupt_summary    has err 'signal 2'

# if the command is killed the program does not stay behind
"$w" -q sh -c 'echo $$ > child; exec sleep 60' &
pid=$!
wait_for [ -s child ]
kill -KILL $pid; wait $pid 2> /dev/null
child_is_gone() { ! kill -0 "$(cat child)" 2> /dev/null; }
wait_for child_is_gone
check no_orphan            [ ! -d "/proc/$(cat child)" ]
