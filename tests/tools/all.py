#!/usr/bin/env python3
"""all.py DEVICE PROGRAM OPTIONS…: --tool=all must find the errors and warnings that each tool finds
by itself, and no others; on the GPU, but for make check-long, those that it finds on the virtual
device. Says what is missing and what is more; nothing if it is the same.
The driver's word that a launch was ended is not ours: a hang has it where nobody could say more."""
import json
import os
import subprocess
import sys
import tempfile

TOOLS = ["memcheck", "initcheck", "fpcheck", "racecheck", "synccheck"]


def findings(tool, device, program, options):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [os.environ["WARPGRIND"], "--device=" + device, "--tool=" + tool, "--json="
                   + report] + options + ["--", program]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=200)
        if not os.path.exists(report):
            print("no report of", tool, done.stderr.decode()[-500:])
            return set()
        return {(f["kind"], os.path.basename(f.get("file") or ""), f.get("line", 0))
                for f in json.load(open(report))["findings"] if f["severity"] != "note"
                and f["kind"] != "launch-failure"}


def main():
    device, program, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    if device == "gpu" and os.environ.get("TEST_SIZE") != "long":
        expected = {"--device=cpu": findings("all", "cpu", program, options)}
    else:
        expected = {"--tool=" + t: findings(t, device, program, options) for t in TOOLS}
    together = findings("all", device, program, options)
    for how, found in expected.items():
        for f in sorted(found - together):
            print("only with %s:" % how, *f)
    for f in sorted(together - set().union(*expected.values())):
        print("only with --tool=all --device=%s:" % device, *f)


main()
