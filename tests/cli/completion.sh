#!/usr/bin/env bash
# quick: yes
# Shell completion: the candidates for a command line, and the script for bash, called as readline
# calls it.
set -u
. tests/lib/check.sh
w=$WARPGRIND
cd "$TEST_DIR" || exit 1
mkdir -p files/folder; touch files/a.wg; cd files
is() { [ "$1" = "$2" ] || { echo "expected: $2"; echo "found: $1"; return 1; }; }
# offers WANTED WORD…: the candidates for the last word
offers() { local want=$1; shift; is "$("$w" complete-words "$@" | cut -f 1 | xargs)" "$want"; }

check subcommand         offers 'report :programs' repo
check options            offers '--source= --static=' view --s
check option_of_a_run    offers '--seed=' gold --se
check flag               offers '--unordered' diff --un
check optional_value     offers '--hash --hash=' --has
check choice             offers '--nan=bits' diff --nan=b
check choice_apart       offers 'bits' diff --nan b
check tools              offers '--tool=memcheck,racecheck --tool=memcheck,record' --tool=memcheck,r
check subcommands_help   offers 'debug dump diff' help d
check shells             offers 'bash fish zsh' completion ''
check files              offers ':files' view ''
check folders            offers ':folders' gold --keep=
check a_program          offers ':programs' -q ./
check its_arguments      offers ':files' --seed 3 ls ''
check not_options        offers ':files' ls --
check a_query            offers '' sql a.wg --
check description        grep -q "^view	Show a run file in the browser$" <("$w" complete-words vi)
for shell in bash fish zsh; do
  check "script_$shell" grep -q complete-words <("$w" completion $shell)
done
check no_such_shell      [ "$(code "$w" completion tcsh)" = 125 ]

eval "$("$w" completion bash)"
# completes WANTED LINE: readline makes a word of each =
completes() {
  read -ra COMP_WORDS <<< "${2//=/ = }"
  [[ $2 == *' ' || $2 == *= ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _warpgrind "$w"
  is "${COMPREPLY[*]}" "$1"
}
check bash_options       completes '--source= --static=' 'warpgrind view --s'
check bash_files         completes 'a.wg folder' 'warpgrind view '
check bash_folders       completes 'folder' 'warpgrind view --source='
check bash_value         completes 'bits' 'warpgrind diff --nan=b'
check bash_tools         completes 'count,synccheck' 'warpgrind --tool=count,s'
check bash_value_apart   completes 'folder' 'warpgrind view --static f'
