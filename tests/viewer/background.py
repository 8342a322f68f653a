# The search for races gives way to questions, and goes on all the same: background.py URL PID
import http.client, json, os, sys, threading, time, urllib.parse

url, pid = urllib.parse.urlparse(sys.argv[1]), sys.argv[2]
failed, asking = False, True
HERTZ, NICE = os.sysconf("SC_CLK_TCK"), 15  # of the search's threads

def ask(c, path):
    c.request("GET", url.path + "api/" + path, headers={"Host": url.netloc})
    return json.loads(c.getresponse().read())

def connect(): return http.client.HTTPConnection(url.hostname, url.port, timeout=60)

def check(name, ok, why=""):
    global failed
    print("ok " + name if ok else "FAIL %s: %s" % (name, why), flush=True)
    failed = failed or not ok

def searched():  # seconds of a processor that the search had so far
    ticks = 0
    for task in os.listdir("/proc/%s/task" % pid):
        try: fields = open("/proc/%s/task/%s/stat" % (pid, task)).read().rpartition(")")[2].split()
        except OSError: continue  # it has ended
        if int(fields[16]) == NICE: ticks += int(fields[11]) + int(fields[12])
    return ticks / HERTZ

def ask_on():  # one question after the other
    c = connect()
    while asking: ask(c, "counts?launch=%d" % launch)

c = connect()
launch = [s[3] for s in ask(c, "flow?skip=0&most=100")["steps"] if s[2] == "launch"][-1]
state = ask(c, "race_state")
check("search_is_under_way", not state["finished"], state)
# There is always a question: two ask, and each answer takes longer than the way to and fro.
threads = [threading.Thread(target=ask_on, daemon=True) for i in range(2)]
for t in threads: t.start()
time.sleep(0.2)
before, began = searched(), time.monotonic()
time.sleep(2)
share = (searched() - before) / (time.monotonic() - began)
state = ask(c, "race_state")
check("search_gives_way", share < 0.5 and not state["finished"], "%.2f of a processor" % share)
end = time.monotonic() + 60
while searched() < before + 0.2 and time.monotonic() < end: time.sleep(0.1)
check("search_goes_on", searched() >= before + 0.2, searched() - before)
asking = False
for t in threads: t.join()
before = searched()
while searched() < before + 0.5 and not ask(c, "race_state")["finished"] and \
        time.monotonic() < end: time.sleep(0.1)
check("search_goes_on_alone", ask(c, "race_state")["finished"] or searched() >= before + 0.5)
# Stopped while it waits for a question, it stops.
asking = True
threads = [threading.Thread(target=ask_on, daemon=True) for i in range(2)]
for t in threads: t.start()
state = ask(c, "race_stop")
check("search_stops", state["stopped"] or state["finished"], state)
asking = False
for t in threads: t.join()
sys.exit(failed)
