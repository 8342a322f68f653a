#!/usr/bin/env python3
"""check_junit.py FILE…: well-formed, the numbers are those of what is in it, and nothing is there
that common readers refuse."""
import sys, xml.etree.ElementTree as tree

bad = []
def number(e, name): return int(e.get(name))
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    if root.tag != "testsuites": bad.append("the root is " + root.tag)
    sums = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        cases = suite.findall("testcase")
        found = {"tests": len(cases), "failures": len(suite.findall("testcase/failure")),
                 "errors": len(suite.findall("testcase/error")),
                 "skipped": len(suite.findall("testcase/skipped"))}
        for k, n in found.items():
            if number(suite, k) != n:
                bad.append("%s: %s is %s, and there are %d" % (suite.get("name"), k, suite.get(k),
                    n))
            sums[k] += n
        if [e.tag for e in suite] != ["properties"] + ["testcase"] * len(cases):
            bad.append("a suite has other things than properties and cases")
        for c in cases:
            if not c.get("name") or not c.get("classname") or float(c.get("time")) < 0:
                bad.append("a case without name, class or time")
            if len([e for e in c if e.tag in ("failure", "error", "skipped")]) > 1:
                bad.append(c.get("name") + ": more than one verdict")
            if {e.tag for e in c} - {"failure", "error", "skipped", "system-out"}:
                bad.append(c.get("name") + ": other elements")
            for f in c.findall("failure"):
                if not f.get("type") or not f.get("message") or not f.text.strip():
                    bad.append("a failure that says nothing")
    for k, n in sums.items():
        if number(root, k) != n:
            bad.append("%s of all is %s, and there are %d" % (k, root.get(k), n))
print("\n".join(bad))
sys.exit(1 if bad else 0)
