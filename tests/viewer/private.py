# private.py WARPGRIND FOLDER: see private.sh. FOLDER has run.wg, inputs.wg and
# project/merge_sort.cu.
import glob, hashlib, hmac, json, os, shutil, signal, socket, sqlite3, subprocess, sys
import threading, time, urllib.error, urllib.request

command, folder = sys.argv[1], os.path.realpath(sys.argv[2])
failed = False

def check(name, ok, why=""):
    global failed
    print("ok " + name if ok else "FAIL %s: %s" % (name, why), flush=True)
    failed = failed or not ok

class Server:
    def __init__(self, file, *options, browser=False, env={}):
        options = list(options) + ([] if browser else ["--no-browser"])
        self.process = subprocess.Popen([command, "view", *options, file], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ,
                                            **env})
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.token = self.url.split("/")[3]
    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=60) as r: return r.status, r.read()
        except urllib.error.HTTPError as e: return e.code, e.read()
    def source(self): return json.loads(self.get("api/source?file=0")[1])
    def end(self, signal_number=signal.SIGTERM):
        began = time.monotonic()
        self.process.send_signal(signal_number)
        try: code = self.process.wait(60)
        except subprocess.TimeoutExpired: self.process.kill(); code = "none"
        return code, time.monotonic() - began

def source_of(file, *options, env={}):
    s = Server(file, *options, env=env)
    answer = s.source()
    s.end()
    return answer

path, own = folder + "/project/merge_sort.cu", folder + "/run.wg"
text = open(path).read()

# --- sources ---
check("own_recording", source_of(own).get("text") == text)
key = open(os.environ["WARPGRIND_STATE_DIR"] + "/source-key", "rb").read()
row = sqlite3.connect(own).execute("SELECT path, real, proof FROM source_file").fetchall()
check("proof", row == [(path, path, hmac.new(key, b"warpgrind source " + path.encode(),
                                             "sha256").hexdigest())], row)
check("key_mode", os.stat(os.environ["WARPGRIND_STATE_DIR"]
                          + "/source-key").st_mode & 0o777 == 0o600)

def is_hidden(answer):
    return "text" not in answer and "whole" not in answer and "--source=FOLDER" in answer.get(
        "missing", "")
os.mkdir(folder + "/other")
stranger = {"WARPGRIND_STATE_DIR": folder + "/other"}
check("stranger", is_hidden(source_of(own, env=stranger)))
check("no_key_made", not os.listdir(folder + "/other"))
shutil.copy(os.environ["WARPGRIND_STATE_DIR"] + "/source-key", folder + "/other/source-key")
os.chmod(folder + "/other/source-key", 0o644)
check("key_others_can_read", is_hidden(source_of(own, env=stranger)))
check("named_folder", source_of(own, "--source=" + folder + "/project",
                                env=stranger).get("text") == text)
check("other_folder", is_hidden(source_of(own, "--source=" + folder + "/state", env=stranger)))
check("no_such_folder", subprocess.run([command, "view", "--source=" + folder + "/none", own],
                                       capture_output=True).returncode == 125)

secret = folder + "/secret"
open(secret, "w").write("the secret\n")
# whoever forges a file can make its checksums right
def seal(d, file):
    d.commit()
    d.close()
    subprocess.run(["tests/lib/seal", file], check=True)
    return file
def forge(name, file, real=None, proof=None):
    new = folder + "/" + name + ".wg"
    shutil.copy(own, new)
    d = sqlite3.connect(new)
    d.execute("UPDATE place SET file = ?", (file,))
    if proof is None: d.execute("UPDATE source_file SET path = ?, real = ?", (file, real or file))
    else:
        d.execute("UPDATE source_file SET path = ?, real = ?, proof = ?", (file, real or file,
            proof))
    return seal(d, new)

forged = forge("forged", secret)
check("forged_path", is_hidden(source_of(forged)))
check("forged_name", "secret" not in json.dumps(source_of(forge("name", secret, path)).get("text",
    "")))
check("forged_proof", is_hidden(source_of(forge("proof", secret, secret, "0" * 64))))
check("dots", is_hidden(source_of(forge("dots", folder + "/project/../secret"), "--source="
                                  + folder + "/project")))
check("dots_below", is_hidden(source_of(forge("dots_below", "x/../../secret"), "--source=" + folder
                                        + "/project")))
check("elsewhere", source_of(forge("elsewhere", "/builds/project/merge_sort.cu"), "--source="
                             + folder).get("text") == text)
for name, make in [("link", lambda p: os.symlink(secret, p)), ("fifo", os.mkfifo),
                   ("device", lambda p: os.symlink("/dev/zero", p)), ("folder", os.mkdir),
                   ("huge", lambda p: open(p, "w").truncate(1 << 34)), ("binary", lambda p: open(p,
                       "wb").write(b"a\0b"))]:
    odd = folder + "/project/" + name
    make(odd)
    answer = source_of(forge("odd_" + name, odd), "--source=" + folder + "/project")
    check("odd_" + name, "text" not in answer and "missing" in answer, answer)
os.rename(path, folder + "/moved.cu")
os.symlink(secret, path)
check("replaced_by_link", is_hidden(source_of(own)))
os.remove(path)
os.rename(folder + "/moved.cu", path)

# Kernels of a run file name sources, too: running them again proves nothing. Proofs of the first
# run are kept.
bad = folder + "/bad.wg"
shutil.copy(folder + "/inputs.wg", bad)
d = sqlite3.connect(bad)
d.execute("DELETE FROM source_file")
seal(d, bad)
for name, file, n in [("expand_own", folder + "/inputs.wg", 1), ("expand_stranger", bad, 0)]:
    out = folder + "/" + name + ".wg"
    r = subprocess.run([command, "expand", file, "--launch=1", "--device=cpu", "-o", out],
                       capture_output=True, text=True)
    got = sqlite3.connect(out).execute("SELECT count(*) FROM source_file WHERE path = ?",
                                       (path,)).fetchone()[0] if os.path.exists(out) else r.stderr
    check(name, got == n, got)

def write_page(name, file, *options):
    r = subprocess.run([command, "view", "--static", folder + "/" + name, *options, file],
                       capture_output=True, text=True)
    import base64, re, zlib
    m = re.search(r'warpgrindPiece\("run","([^"]*)"\)', open(folder + "/" + name
        + "/data/run.js").read())
    return r, zlib.decompress(base64.b64decode(m.group(1))).decode()
r, page = write_page("page", own)
check("static_lists", r.returncode == 0 and r.stdout == "embedded %s\n" % path
      and "bsmerge" in page, r)
r, page = write_page("forged_page", forged)
check("static_forged", r.returncode == 0 and r.stdout == "" and "not in the page: "
      + secret in r.stderr and "the secret" not in page, r)

# --- other users ---
os.mkdir(folder + "/bin")
open(folder + "/bin/xdg-open", "w").write('#!/bin/sh\ncp "$1" "%s/opened"; ls -l "$1" > '
                                          '"%s/mode"; echo "$@" > "%s/arguments.new"; mv '
                                          '"%s/arguments.new" "%s/arguments"\n' % ((folder,) * 5))
os.chmod(folder + "/bin/xdg-open", 0o755)
s = Server(own, browser=True, env={"DISPLAY": ":0", "PATH": folder + "/bin:" + os.environ["PATH"],
                                   "XDG_RUNTIME_DIR": folder})
for _ in range(1200):
    if os.path.exists(folder + "/arguments"): break
    time.sleep(0.05)
arguments = open(folder + "/arguments").read()
check("browser_arguments", s.token not in arguments and arguments.strip().endswith("open.html"),
      arguments)
check("browser_page", s.url in open(folder + "/opened").read()
      and open(folder + "/mode").read().startswith("-rw-------"))
check("own_arguments", s.token not in open("/proc/%d/cmdline" % s.process.pid).read()
      and s.token not in open("/proc/%d/environ" % s.process.pid).read())
s.end()
check("browser_page_goes", not glob.glob(folder + "/warpgrind-view-*"))
other = Server(own)
check("new_token", other.token != s.token)

# --- connections that say nothing ---
# the best of some rounds: the machine may be busy
def answers(server):
    best, all_ok = 60, True
    for _ in range(5):
        began = time.monotonic()
        all_ok = server.get("")[0] == 200 and server.get("api/run")[0] == 200 and all_ok
        best = min(best, time.monotonic() - began)
        if best < 0.5: break
    return all_ok, best
idle = [socket.create_connection(("127.0.0.1", other.port)) for _ in range(200)]
ok, seconds = answers(other)
check("idle", ok and seconds < 1, seconds)
slow = [socket.create_connection(("127.0.0.1", other.port)) for _ in range(200)]
for c in slow: c.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-A: " % other.port)
ok, seconds = answers(other)
check("half_requests", ok and seconds < 1, seconds)
many = []
for _ in range(600):
    try: many.append(socket.create_connection(("127.0.0.1", other.port), timeout=5))
    except OSError: break
ok, seconds = answers(other)
check("many", ok and seconds < 1, seconds)
def is_closed(c):
    try: return c.recv(1) == b""
    except ConnectionError: return True
    except OSError: return False
last = many[-1]
last.settimeout(1)
began = time.monotonic()
while time.monotonic() - began < 60 and not is_closed(last):
    try: last.send(b"G")
    except OSError: break
check("trickle_ends", time.monotonic() - began < 60)
for c in idle + slow + many: c.close()

# A request that is too large.
c = socket.create_connection(("127.0.0.1", other.port), timeout=30)
try:
    c.sendall(b"GET /" + other.token.encode() + b"/api/calc?expression=" + b"1" * 200000
              + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % other.port)
    head = c.recv(100)
except OSError: head = b""
check("large_request", head == b"" or head.split()[1] in (b"414", b"431", b"400", b"413"), head)
check("still_answers", answers(other)[0])

# --- the end, while a question takes long: the calculator's process is stopped ---
def children(pid):
    found = []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try: fields = open(stat).read().rsplit(")", 1)[1].split()
        except OSError: continue
        if int(fields[1]) == pid: found.append(int(stat.split("/")[2]))
    return found + [x for c in found for x in children(c)]
other.get("api/calc?expression=__sinf(1.0f)")
calculators = children(other.process.pid)
for pid in calculators: os.kill(pid, signal.SIGSTOP)
question = threading.Thread(target=lambda: other_question(), daemon=True)
def other_question():
    try: other.get("api/calc?expression=__cosf(1.0f)")
    except OSError: pass
question.start()
for _ in range(200):
    if b"calc" in other.get("api/progress")[1]: break
    time.sleep(0.05)
code, seconds = other.end()
check("ends_during_a_question", code == 0 and seconds < 8 and calculators, (code, seconds,
    calculators))
for pid in calculators:
    try: os.kill(pid, signal.SIGCONT)
    except OSError: pass
code, seconds = Server(own).end(signal.SIGINT)
check("interrupt", code == 0 and seconds < 8, (code, seconds))
sys.exit(failed)
