"""Compares the advice of a run with what the program's comments ask for: "// advice: RULE …" at the
end of a line. The program gets that advice, at that line, and no other; "// advice-any: RULE" on a
line of its own: somewhere, without a line of device code."""
import json
import re
import sys

source, report = sys.argv[1], sys.argv[2]
wanted = set()
for number, line in enumerate(open(source), 1):
    found = re.search(r"// advice(-any)?: (.*)$", line)
    if found:
        for rule in found.group(2).split():
            wanted.add((rule, 0 if found.group(1) else number))
advice = json.load(open(report)).get("advice", [])
name = source.rsplit("/", 1)[-1]
anywhere = {rule for rule, line in wanted if not line}
got = {(a["rule"], 0 if a["rule"] in anywhere else a.get("line", 0)) for a in advice}
for rule, line in sorted(wanted - got):
    print(f"{name}:{line}: {rule} is missing")
for rule, line in sorted(got - wanted):
    print(f"{name}:{line}: {rule} is not expected")
for a in advice:
    if not a["evidence"] or not a["instead"] or "worth_ms" not in a:
        print(f"{name}: {a['rule']} lacks a key")
sys.exit(got != wanted)
