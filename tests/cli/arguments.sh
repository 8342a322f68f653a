#!/usr/bin/env bash
# quick: yes
# The command lines of subcommands, as src/cli/subcommands.def describes them: help, mistakes and
# their exit codes, suggestions.
set -u
. tests/lib/check.sh
w=$WARPGRIND d=$TEST_DIR def=$PWD/src/cli/subcommands.def
ptx=$PWD/examples/merge_sort/ptx/merge_sort.ptx
cd "$d" || exit 1
# mistake NAME CODE TEXT ARGUMENTS…
mistake() {
  local name=$1 code=$2 text=$3; shift 3
  check "$name" [ "$(code "$w" "$@")" = "$code" ]
  check "${name}_says" has err "$text"
}

# Every subcommand and option of the table has help, and a place in the manual page.
"$w" --help > help.txt; "$w" --man | sed 's/\\//g' > man.txt
for name in $(sed -n 's/^SUBCOMMAND([a-z_]*, "\([a-z-]*\)".*/\1/p' "$def"); do
  id=${name//-/_}
  [ "$(code "$w" help "$name")" = 0 ] && grep -q "^usage: warpgrind $name" out && cp out one ||
    echo "FAIL help_of_$name"
  [ "$(code "$w" "$name" --help)" = 0 ] && cmp -s out one || echo "FAIL ${name}_help"
  grep "^SUBCOMMAND($id," "$def" | grep -q UNLISTED || { grep -q "^  $name" help.txt &&
    grep -q "^.SS $name" man.txt; } || echo "FAIL listed_$name"
  for option in $(sed -n "s/^[A-Z]*($id, [A-Z_]*, \"\([a-z-]*\)\".*/\1/p" "$def"); do
    grep -q -- " --$option" one && grep -q -- "--$option" man.txt ||
      echo "FAIL help_of_${name}_$option"
  done
done
check help_of_subcommands   grep -q -- '--port=N' <("$w" help view)
check help_is_help          cmp -s help.txt <("$w" help)
check help_behind_options   [ "$(code "$w" view --live -h)" = 0 ]
if command -v groff > /dev/null; then
  "$w" --man | groff -man -ww -Tutf8 > page.txt 2> err
  check man_without_complaint [ ! -s err ]
fi

mistake no_argument      125 'FILE is missing. usage: warpgrind view [options] FILE' view
mistake second_missing   125 'QUERY is missing' sql x.wg
mistake too_many         125 'b.wg is one argument too many' view a.wg b.wg
mistake none_wanted      125 'x is one argument too many' version x
mistake unknown          125 '--prot=3 (did you mean --port?)' view --prot=3 a.wg
mistake unknown_far      125 'unknown option --frobnicate. warpgrind help view lists all.' view \
  --frobnicate a.wg
mistake has_no_options   125 'unknown option --all' sql --all a.wg x
mistake no_value         125 '--port needs a value: --port=N' view a.wg --port
mistake flag_with_value  125 '--live takes no value' view --live=yes a.wg
mistake no_number        125 '--port=many: expected a number' view --port=many a.wg
mistake number_too_large 125 '--port=65536: expected a number from 1 to 65535' view --port=65536 \
  a.wg
mistake choice           2   '--nan=never: expected one of equal|bits|differ' diff --nan=never \
  a.wg b.wg
mistake required         125 '--launch=N[..M] is missing' expand a.wg
mistake launches         125 '--launch=3-7: expected' expand a.wg --launch=3-7
mistake diff_code        2   'B is missing' diff a.wg
mistake gold_code        2   '--workrs=1 (did you mean --workers?)' gold --workrs=1 true
mistake gold_chooses     2   '--device=cpu is not for warpgrind gold' gold --device cpu true
mistake help_unknown     125 'there is no subcommand veiw; did you mean view?' help veiw
mistake tool_guess       125 '(did you mean racecheck?)' --tool=count,racechek true
mistake ptx_tool_guess   125 '(did you mean count?)' ptx --tool=coutn "$ptx"
mistake option_guess     125 'did you mean --record?' --recrod true

# A misspelt subcommand is taken for one only where there is no such program.
mistake subcommand_guess 127 'there is no program `exapnd`; did you mean the subcommand `expand`?' \
  exapnd a.wg
mistake behind_options   127 'a subcommand comes before options: warpgrind completion' -q \
  completion bash
mistake not_after_dashes 127 'exapnd: command not found' -- exapnd
mistake no_guess         127 'no-such-program: command not found' no-such-program
mkdir bin && printf '#!/bin/sh\nexit 6\n' > bin/exapnd && chmod +x bin/exapnd
check program_comes_first [ "$(PATH=$PWD/bin:$PATH code "$w" -q exapnd)" = 6 ]

# Both ways to write a value, and options behind arguments.
check value_apart         [ "$(code "$w" ptx --dump cfg "$ptx")" = 0 ]
cp out apart
check value_joined        [ "$(code "$w" ptx "$ptx" --dump=cfg)" = 0 ]
check values_are_the_same cmp out apart
check options_end         [ "$(code "$w" ptx --check -- "$ptx")" = 0 ]
