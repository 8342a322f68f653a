#!/usr/bin/env python3
"""Judges one run of an annotated test program (docs/testing.md); prints `ok NAME` or `FAIL NAME:
why`.

FOLDER holds what the run left: report.json, out, err (the report in words) and code; none.out and
none.code
are of a run without a tool, whose output and exit code must be the same."""
import argparse
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import annotations  # noqa: E402
import findings  # noqa: E402


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("name")
    p.add_argument("source")
    p.add_argument("folder")
    p.add_argument("--device", default="cpu")
    p.add_argument("--tools", default="", help="those that ran, with commas between")
    p.add_argument("--frame", default="innermost", choices=["innermost", "outermost", "marked"])
    p.add_argument("--ignore", default="", help="kinds that are not compared, with commas between")
    p.add_argument("--twin", action="store_true", help="the correct twin: nothing may be found")
    p.add_argument("--error-exitcode", type=int, default=99, help="0: findings do not change the "
                   "exit code")
    p.add_argument("--any-exit", action="store_true", help="where something is found the exit "
                   "code may be any")
    p.add_argument("--prevented", action="store_true",
                   help="the tool prevents what it finds: output and own exit code may differ then")
    return p.parse_args()


class Run:
    def __init__(self, args):
        self.args = args
        with open(self.path("report.json")) as f:
            self.report = json.load(f)
        self.words = findings.without_addresses(self.text("err"))
        self.code = int(self.text("code"))
        self.ignore = [k for k in args.ignore.split(",") if k]
        self.found = [f for f in self.report["findings"] if not findings.ignored(f["kind"],
            self.ignore)]

    def path(self, name):
        return os.path.join(self.args.folder, name)

    def text(self, name):
        with open(self.path(name), errors="replace") as f:
            return f.read()

    def setting(self, key):
        return annotations.setting(self.args.source, key)

    def has(self, name):
        return os.path.exists(self.path(name))

    def wrong_findings(self):
        if self.args.twin:
            return ["not expected: " + f["kind"] for f in self.found]
        return findings.compare(self.args.source, self.report, self.args.device,
                                self.args.tools.split(","),
                                self.args.frame, self.ignore)

    def wrong_words(self):
        source, device = self.args.source, self.args.device
        says = annotations.values(source, "says", device)
        says = [annotations.with_lines(source, words) for words in says]
        lacks = [w for w in says if w not in self.words]
        extra = [w for w in annotations.values(source, "never", device) if w in self.words]
        return ["the report lacks: " + w for w in lacks] + ["the report says: " + w for w in extra]

    def wrong_origins(self):
        """Where a program marks origins, the report names all of these lines and no other."""
        want = sorted(annotations.lines(self.args.source, "origin"))
        name = re.escape(os.path.basename(self.args.source))
        got = sorted(int(n) for n in re.findall(r"  read .*at .*%s:(\d+) " % name, self.words))
        return ["origins at lines %s, expected %s" % (got, want)] if want and want != got else []

    def wrong_exit(self):
        """99 after an error, else the program's own exit code."""
        errors = any(f["severity"] == "error" for f in self.report["findings"])
        if self.args.any_exit and self.found or self.args.prevented and self.found and not errors:
            return []
        if self.args.any_exit or self.args.twin:
            errors = False
        own = self.text("none.code") if self.has("none.code") else self.setting("exit") or 0
        want = self.args.error_exitcode if errors and self.args.error_exitcode else int(own)
        return [] if self.code == want else ["exit code %d, expected %d" % (self.code, want)]

    def wrong_output(self):
        if not self.has("none.out") or self.text("out") == self.text("none.out"):
            return []
        return [] if self.args.prevented and self.found else ["other output"]

    def wrong(self):
        checks = [self.wrong_findings, self.wrong_exit, self.wrong_output]
        if not self.args.twin:
            checks[1:1] = [self.wrong_words, self.wrong_origins]
        for check in checks:
            said = check()
            if said:
                return said
        return []


def main():
    args = arguments()
    try:
        run = Run(args)
    except (OSError, ValueError) as e:
        print("FAIL %s: no report: %s" % (args.name, e))
        return
    wrong = run.wrong()
    if not wrong:
        print("ok " + args.name)
        return
    print("\n".join(wrong + run.text("out").splitlines()[-10:]
                    + run.text("err").splitlines()[-40:]))
    print("FAIL %s: %s" % (args.name, wrong[0]))


main()
