#!/usr/bin/env python3
"""Compares the findings of a report with the annotations of the program (docs/testing.md)."""
import argparse
import fnmatch
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import annotations  # noqa: E402

WEAKER_RACES = ("race-same-value", "race-no-acquire")      # what some threads of a race may see


class Finding:
    """What is compared of one finding of a report."""

    def __init__(self, record, source, frame, marks):
        self.record = record
        self.kind, self.count = record["kind"], record["count"]
        self.format = record.get("format", "")
        self.bytes = 0 if "thread" in record else record.get("size", 0)
        self.text = without_addresses(record.get("text") or record.get("message") or "")
        self.other = line_of(record["other"], source) if "other" in record else 0
        frames = own_lines(record, source)
        marked = [n for n in frames if any(m.matches_kind(self.kind) and m.line == n
                                           for m in marks)]
        if frame == "outermost":
            frames.reverse()
        elif frame == "marked":
            frames = marked[::-1] + frames[::-1]
        self.line = frames[0] if frames else 0

    def matches(self, mark):
        return (mark.matches_kind(self.kind)
                and mark.line in (None, self.line)
                and mark.count in (None, self.count)
                and mark.bytes in (None, self.bytes)
                and mark.format in (None, self.format)
                and mark.text in (None, self.text)
                and (mark.has is None or mark.has in json.dumps(self.record, ensure_ascii=False)))

    def __str__(self):
        shown = "%s line=%d count=%d" % (self.kind, self.line, self.count)
        for name in ("bytes", "format", "other", "text"):
            if getattr(self, name):
                shown += " %s=%s" % (name, getattr(self, name))
        return shown


def without_addresses(text):
    return re.sub("0x[0-9a-f]+", "0x…", text)


def own_lines(place, source):
    """Lines of the source in the chain of a finding, the innermost first.
    The host's frames come first where no thread of the device caused it."""
    device = [place] + place.get("inlined_at", [])
    host = place.get("stack", [])
    chain = device + host if "thread" in place else host + device
    name = os.path.basename(source)
    return [p["line"] for p in chain if os.path.basename(p.get("file") or "") == name
            and "line" in p]


def line_of(place, source):
    return next(iter(own_lines(place, source)), 0)


def add_up(findings):
    """Joins findings of one line, kind and format, adding up their counts."""
    joined = {}
    for f in findings:
        first = joined.setdefault((f.line, f.kind, f.format), f)
        if first is not f:
            first.count += f.count
    return list(joined.values())


def ignored(kind, patterns):
    return any(fnmatch.fnmatch(kind, p) for p in patterns)


def explained_by_group(finding, groups):
    """The marks of a group allow this finding, with its other side where it has one."""
    for marks in groups.values():
        here = [m for m in marks if m.line in (None, finding.line)]
        if finding.other and not any(m.line == finding.other for m in marks):
            continue
        if any(finding.matches(m) for m in here):
            return marks[0].group
        if any(m.kind == "race" for m in here) and finding.kind in WEAKER_RACES:
            return "weaker"
    return None


def compare(source, report, device="cpu", tools=(), frame="innermost", ignore=(), without=(),
            total=False):
    """Sentences about what is wrong; none if the findings are the expected ones.
    frame: which line of the source is a finding's, where calls were inlined.
    ignore: kinds (patterns) that are another test's matter. without: kinds that are not expected in
    this run.
    total: counts of a line are added up."""
    marks = [m for m in annotations.marks(source, device, tools) if m.kind not in without]
    found = [Finding(f, source, frame, marks) for f in report["findings"] if not ignored(f["kind"],
        ignore)]
    if total:
        found = add_up(found)
    groups = {}
    for m in marks:
        if m.group:
            groups.setdefault(m.group, []).append(m)
    single = [m for m in marks if not m.group]
    single.sort(key=lambda m: sum(v is None for v in vars(m).values()))     # the most exact first
    left = {id(m): m.times for m in single}
    wrong, seen = [], set()
    for f in found:
        mark = next((m for m in single if left[id(m)] and f.matches(m)), None)
        if mark:
            left[id(mark)] -= 1
            continue
        group = explained_by_group(f, groups)
        seen.add(group)
        if not group:
            wrong.append("not expected: %s" % f)
    wrong += ["not found: %s" % m for m in single if left[id(m)]]
    wrong += ["not found: %s" % groups[g][0] for g in sorted(set(groups) - seen)]
    return wrong


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("source")
    p.add_argument("report")
    p.add_argument("--frame", default="innermost")
    p.add_argument("--without", action="append", default=[])
    p.add_argument("--tools", default="", help="those that ran, with commas between; or all")
    p.add_argument("--without-notes", action="store_true")
    p.add_argument("--total", action="store_true")
    args = p.parse_args()
    with open(args.report) as f:
        report = json.load(f)
    if args.without_notes:
        report["findings"] = [f for f in report["findings"] if f["severity"] != "note"]
    wrong = compare(args.source, report, tools=args.tools.split(","), frame=args.frame,
                    without=args.without, total=args.total)
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
