# Initial values of module variables on the page: variables.py URL
import json, sys, urllib.request

def ask(path): return json.load(urllib.request.urlopen(sys.argv[1] + "api/" + path))
def check(name, ok, why): print("ok " + name if ok else "FAIL %s: %s" % (name, why), flush=True)

steps = ask("flow?skip=0&most=100")["steps"]
buffers = {b["name"]: b for b in ask("buffers?most=100")["buffers"]}
first = [s for s in steps if s[12] and s[12][0][0] == buffers["best"]["id"]][0]
check("initial_value", first[10] == "initial value" and first[12] == [[buffers["best"]["id"], 2]],
      first)
check("no_copy", not [s for s in steps if s[10].startswith("copy")], steps)
check("managed_type", buffers["done"]["type"] == "int", buffers["done"])
e = ask("element?allocation=%d&address=%s&bytes=4" % (buffers["best"]["id"],
                                                      buffers["best"]["base"]))
check("element", [(o[2], o[9]) for o in e["ops"]] == [(5, "f9ffffff"), (0, "f9ffffff")], e["ops"])
check("element_step", e["steps"][str(e["ops"][0][3])]["kind"] == "initial value", e["steps"])
step = ask("step?id=%d" % e["ops"][0][3])
check("step", step["kind"] == "initial value" and step["width"] == 4,
      step)
