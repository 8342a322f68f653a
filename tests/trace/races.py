# races.py WARPGRIND RUN SOURCE MISSED…: races of a recorded run against the marks of a program (`// race NAME`, `// same NAME`; `// unacquired NAME`, a warning of racecheck, is a race here): each is found, at lines that are both marked with
# its name, but for those that are missed on purpose, and nothing else. Prints what is wrong.
import re, subprocess, sys

warpgrind, run, source, *missed = sys.argv[1:]
marks = {}
for number, line in enumerate(open(source), 1):
    for kind, name in re.findall(r"// (race|same|unacquired) (\w+)", line):
        marks.setdefault(("same" if kind == "same" else "race", name), set()).add(number)


def ask(sql):
    return [r.split("\t") for r in subprocess.run([warpgrind, "sql", run, sql], capture_output=True, text=True, check=True).stdout.splitlines()[1:]]


lines = {}
for site, line in ask("select site, line from place"):
    lines.setdefault(site, set()).add(int(line))
found = set()
for first, second, same, launch in ask("select first_site, second_site, same_value, launch from race"):
    names = [n for n, at in marks.items() if n[0] == ("same" if same == "1" else "race") and at & lines.get(first, set()) and at & lines.get(second, set())]
    if not names and same == "1":      # of a race only writes of the same value may have been seen
        names = [n for n, at in marks.items() if at & lines.get(first, set()) and at & lines.get(second, set())]
    found.update(names)
    if not names:
        print(f"launch {launch}: lines {sorted(lines.get(first, []))} and {sorted(lines.get(second, []))}, same value: {same}")
for kind, name in sorted(marks):
    if kind == "race" and ((kind, name) in found) == (name in missed):
        print(f"{name} is {'found, and listed as missed' if name in missed else 'missed'}")
