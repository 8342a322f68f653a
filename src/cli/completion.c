// warpgrind completion SHELL: a script that asks `warpgrind complete-words` (complete.c) what may
// come next, and shows it in the manner of the shell.
#include "cli/cli.h"

// Bash splits words at "=" and completes what is behind it; the words are joined again here.
static const char bash[] =
    "_warpgrind() {\n"
    "  local words=() word line prefix=\n"
    "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
    "    if [[ ${#words[@]} -gt 0 && ( $word == = || ${words[-1]} == --*= ) ]]; then\n"
    "      words[-1]+=$word\n"
    "    else\n"
    "      words+=(\"$word\")\n"
    "    fi\n"
    "  done\n"
    "  local current=${words[-1]}\n"
    "  [[ $current == --*=* && $COMP_WORDBREAKS == *=* ]] && prefix=${current%=*}=\n"
    "  local rest=${current#\"$prefix\"}\n"
    "  COMPREPLY=()\n"
    "  while IFS= read -r line; do\n"
    "    case $line in\n"
    "      :files | :folders | :programs)\n"
    "        local what=-f\n"
    "        [[ $line == :folders ]] && what=-d\n"
    "        [[ $line == :programs && $rest ]] && what=-fc\n"
    "        compopt -o filenames 2> /dev/null\n"
    "        while IFS= read -r line; do COMPREPLY+=(\"$line\"); done "
    "< <(compgen $what -- \"$rest\") ;;\n"
    "      *)\n"
    "        line=${line%%$'\\t'*}\n"
    "        [[ $line == *= ]] && compopt -o nospace 2> /dev/null\n"
    "        COMPREPLY+=(\"${line#\"$prefix\"}\") ;;\n"
    "    esac\n"
    "  done < <(\"$1\" " CLI_COMPLETE " \"${words[@]}\" 2> /dev/null)\n"
    "}\n"
    "complete -F _warpgrind warpgrind\n";

static const char zsh[] = "#compdef warpgrind\n"
                          "_warpgrind() {\n"
                          "  local line names=\n"
                          "  local -a given whole open\n"
                          "  given=(\"${(@)words[2,CURRENT-1]}\" \"$PREFIX\")\n"
                          "  for line in \"${(@f)$(\"$words[1]\" " CLI_COMPLETE
                          " \"${(@)given}\" 2> /dev/null)}\"; do\n"
                          "    case $line in\n"
                          "      :*) names=$line ;;\n"
                          "      *=$'\\t'*) open+=(\"${${line//:/\\\\:}/$'\\t'/:}\") ;;\n"
                          "      ?*) whole+=(\"${${line//:/\\\\:}/$'\\t'/:}\") ;;\n"
                          "    esac\n"
                          "  done\n"
                          "  (( $#whole )) && _describe warpgrind whole\n"
                          "  (( $#open )) && _describe warpgrind open -S ''\n"
                          "  [[ -n $names && $PREFIX == --*=* ]] && compset -P '*='\n"
                          "  case $names in\n"
                          "    :files) _files ;;\n"
                          "    :folders) _files -/ ;;\n"
                          "    :programs) _command_names -e; _files ;;\n"
                          "  esac\n"
                          "}\n"
                          "if [ \"$funcstack[1]\" = _warpgrind ]; then\n"
                          "  _warpgrind \"$@\"\n"
                          "else\n"
                          "  compdef _warpgrind warpgrind\n"
                          "fi\n";

static const char fish[] = "function __warpgrind_complete\n"
                           "  set -l words (commandline -opc)\n"
                           "  set -l current (commandline -ct)\n"
                           "  test (count $current) -eq 0; and set current ''\n"
                           "  set -l prefix (string match -r '^--[^=]*=' -- $current)\n"
                           "  set -l rest (string replace -- \"$prefix\" '' $current)\n"
                           "  for line in ($words[1] " CLI_COMPLETE
                           " $words[2..-1] $current 2> /dev/null)\n"
                           "    switch $line\n"
                           "      case :files\n"
                           "        for name in (__fish_complete_path \"$rest\")\n"
                           "          echo \"$prefix$name\"\n"
                           "        end\n"
                           "      case :folders\n"
                           "        for name in (__fish_complete_directories \"$rest\")\n"
                           "          echo \"$prefix$name\"\n"
                           "        end\n"
                           "      case :programs\n"
                           "        complete -C \"$rest\"\n"
                           "      case '*'\n"
                           "        echo $line\n"
                           "    end\n"
                           "  end\n"
                           "end\n"
                           "complete -c warpgrind -f -a '(__warpgrind_complete)'\n";

int cli_completion(const CliArguments *a) {
  static const struct {
    const char *name, *script;
  } shells[] = {{"bash", bash}, {"fish", fish}, {"zsh", zsh}};
  for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
    if (strcmp(a->words.data[0], shells[i].name) != 0) continue;
    fputs(shells[i].script, stdout);
    return 0;
  }
  return cli_misuse(a->subcommand, "%s: the shells are bash, fish and zsh.", a->words.data[0]);
}
