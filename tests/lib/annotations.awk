# The one reader of annotations in test programs; docs/testing.md has their grammar.
# awk -f annotations.awk FILE prints LINE, KEY and VALUE of each, with tabs between. LINE is the
# line of code that the annotation belongs to, 0 for a comment on a line of its own.
# -v only=KEY prints the values of that key alone, of comments on lines of their own; -v first=1
# only the first.
BEGIN {
  list = "args arch cflags coverage coverage-with-tool cpu device devices env exit files finding" \
    " finds finds-cpu finds-gpu gencode gpu label lineinfo long name needs never note nvcc" \
    " options origin patience prints quick runtime says says-cpu says-gpu seconds seeds share" \
    " timeout tools"
  n = split(list, names, " ")
  for (i = 1; i <= n; i++) known[names[i]] = 1
}

function print_one(line, key, value) {
  sub(/[ \t]*(\*\/)?[ \t]*$/, "", value)
  if (only == "") printf "%d\t%s\t%s\n", line, key, value
  else if (key == only && line == 0 && !done) { print value; done = first }
}

# The held annotation is complete: a line that continues it can no longer come.
function flush_held() {
  if (held_key ~ /-next$/) {
    next_keys[++marks] = substr(held_key, 1, length(held_key) - 5)
    next_values[marks] = held_value
  } else if (held_key != "") print_one(0, held_key, held_value)
  held_key = ""
}

# Sets key and value where the text of a comment begins with a known key.
function parse(text) {
  sub(/^[ \t]*/, "", text)
  if (!match(text, /^[a-z]+(-[a-z]+)*:/)) return 0
  key = substr(text, 1, RLENGTH - 1)
  plain = key
  sub(/-next$/, "", plain)
  if (!(plain in known)) return 0
  value = substr(text, RLENGTH + 1)
  sub(/^[ \t]*/, "", value)
  return 1
}

/^[ \t]*(\/\/|# |#!|\/\*)/ {
  text = $0
  sub(/^[ \t]*[\/*#!]+/, "", text)
  if (held_key != "" && text ~ /^   +[^ ]/) {
    sub(/^ */, "", text)
    held_value = held_value " " text
    next
  }
  flush_held()
  if (parse(text)) {
    held_key = key
    held_value = value
  }
  next
}

{
  flush_held()
  for (i = 1; i <= marks; i++) print_one(FNR, next_keys[i], next_values[i])
  marks = 0
  n = split($0, parts, /\/\/|# /)
  for (i = 2; i <= n; i++) if (parse(parts[i])) print_one(FNR, key, value)
}

END { flush_held() }
