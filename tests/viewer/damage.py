# Run files that were cut or written over: every question gets an answer or a sentence, and the
# server lives. damage.py WARPGRIND FILE SIZE FOLDER
import json, os, random, signal, subprocess, sys, urllib.error, urllib.request

command, path, size, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
questions = ["run", "flow", "buffers", "findings", "finding?id=41", "launch?id=25",
             "thread?launch={l}&thread=4012", "thread?launch={l}&thread=4012&record=34716&lane=3",
             "element?allocation={b}&address={a}&bytes=4",
             "conflicts?launch={l}&thread=4012", "writers?record=20000&lane=12",
             "readers?record=20000&lane=12", "touching?launch={l}&address={a}", "races?launch={l}",
             "contents?allocation={b}&bytes=20000",
             "picture?allocation={b}&type=i32&width=64&rows=79", "source?file=0", "step?id={s}",
             "pixel?allocation={b}&type=i32&width=64&pool_x=8&pool_y=8&x=1&y=1", "watches",
             "writers?record=20000&lane=12&all=1"]

def serve(file):
    p = subprocess.Popen([command, "view", "--no-browser", file], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, errors="replace")
    return p, p.stdout.readline().strip()

def get(url):
    try:
        with urllib.request.urlopen(url, timeout=90) as r: return r.status, r.read()
    except urllib.error.HTTPError as e: return e.code, e.read()

whole = open(path, "rb").read()
p, url = serve(path)
flow = json.loads(get(url + "api/flow")[1])
names = {"l": next(s[3] for s in flow["steps"] if s[2] == "launch"), "s": flow["steps"][0][0]}
b = next(x for x in json.loads(get(url + "api/buffers")[1])["buffers"] if x.get("name") == "b")
names["b"], names["a"] = b["id"], b["base"]
p.send_signal(signal.SIGTERM)
p.wait()

random.seed(7)
cases = [("cut_%d" % percent, whole[:size * percent // 100]) for percent in (5, 50, 90, 99)]
for i in range(8):
    data = bytearray(whole)
    for _ in range([1, 10, 100, 1000, 10, 100, 1000, 10000][i]):
        # The first page is SQLite's own: mostly other parts are hit
        at = random.randrange(100 if i % 2 else 4096, len(data))
        data[at] = random.randrange(256)
    cases.append(("noise_%d" % i, bytes(data)))
for name, data in cases:
    file = os.path.join(folder, name + ".wg")
    open(file, "wb").write(data)
    # With valid checksums most of the changes are found by later checks.
    if name.startswith("noise"): subprocess.run([os.environ["ROOT"] + "/tests/lib/seal", file])
    p, url = serve(file)
    why = ""
    if not url:
        said = p.stderr.read()
        code = p.wait()
        if code != 125 or not said.startswith("warpgrind: "):
            why = "exit code %d: %s" % (code, said[:300])
    else:
        for q in questions:
            try:
                status, body = get(url + "api/" + q.format(**names))
                if status != 200 and b"error" not in body:
                    why = "%s: %d %s" % (q, status, body[:100])
            except Exception as e:
                why = "%s: %s" % (q, e)
                break
        p.send_signal(signal.SIGTERM)
        code = p.wait()
        if code != 0: why = why or "exit code %d: %s" % (code, p.stderr.read()[:300])
    print("FAIL %s: %s (kept: %s)" % (name, why, file) if why else "ok " + name, flush=True)
    if not why: os.remove(file)
