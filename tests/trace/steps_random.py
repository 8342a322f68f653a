# steps_random.py WARPGRIND RUN OUTPUT: races between steps of a recording of steps_random.cu
# against what its output says was ordered: operations as sets of those that come before them. The
# same pairs, no more and no less. Prints what is wrong, and how many pairs there are.
import re, subprocess, sys

warpgrind, run, output = sys.argv[1:]
done, events, host, operations = [set() for _ in range(5)], {}, set(), {}
BLOCKING = (1, 2)


def before(stream):
    s = done[stream] | host
    for other in BLOCKING if stream == 0 else (0,) if stream in BLOCKING else ():
        s |= done[other]
    return s


for line in open(output):
    what, *n = line.split()
    n = [int(x) for x in n]
    if what in ("read", "write", "set"):
        number, stream, buffer = n
        operations[number] = (what != "read", buffer, before(stream))
        done[stream] = operations[number][2] | {number}
    elif what == "record":
        # it is an operation of its stream: in the default stream one that others wait for
        events[n[0]] = done[n[1]] = before(n[1])
    elif what == "wait":
        done[n[1]] |= events[n[0]]
    elif what == "sync":
        host |= before(n[0])
    elif what == "seen":
        host |= events[n[0]]
    elif what == "all":
        host |= set().union(*done)
expected = {(a, b) for b, (writes, buffer, earlier) in operations.items() for a in range(b)
            if a not in earlier and operations[a][1] == buffer and (writes or operations[a][0])}

sql = ("select a.kind, a.value, ka.name, b.kind, b.value, kb.name from race r join step a on a.id "
       "= r.first_step join step b on b.id = r.second_step "
       "left join launch la on la.id = a.launch left join kernel ka on ka.id = la.kernel left "
       "join launch lb on lb.id = b.launch left join kernel kb on kb.id = lb.kernel")
found = set()
for row in subprocess.run([warpgrind, "sql", run, sql], capture_output=True, text=True,
                          check=True).stdout.splitlines()[1:]:
    kind_a, value_a, name_a, kind_b, value_b, name_b = row.split("\t")
    pair = [int(value) if kind == "set" else int(re.search(r"operationILi(\d+)E", name).group(1))
            for kind, value, name in ((kind_a, value_a, name_a), (kind_b, value_b, name_b))]
    found.add(tuple(sorted(pair)))
for pair in sorted(found - expected):
    print("wrong: these are ordered:", pair)
for pair in sorted(expected - found):
    print("wrong: missed:", pair)
print(len(expected), "pairs")
