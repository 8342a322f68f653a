# races_report.py WARPGRIND RUN: races of a recording as `warpgrind --json` has findings, as far as
# tests/racecheck/oracle.py looks at them.
import json, subprocess, sys

sql = ("select r.kind, k.name, s.ptx_line, o.ptx_line from race r join launch l on l.id = "
       "r.launch_id join kernel k on k.id = l.kernel "
       "join site s on s.id = second_site join site o on o.id = first_site")
rows = subprocess.run([sys.argv[1], "sql", sys.argv[2], sql], capture_output=True, text=True,
                      check=True).stdout.splitlines()[1:]
print(json.dumps({"findings": [{"kind": kind, "kernel": name, "ptx_line": int(mine),
                                "other": {"ptx_line": int(other)}} for kind, name, mine,
                                other in (r.split("\t") for r in rows)]}))
