# Questions about a recorded merge sort (examples/merge_sort): api.py URL
import http.client, json, struct, sys, urllib.parse

url = urllib.parse.urlparse(sys.argv[1])
port, token = url.port, url.path.strip("/")
failed = False

def request(path, method="GET", headers=None, host=None, prefix=None):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    c.putrequest(method, ("/" + token if prefix is None else prefix) + path, skip_host=True)
    c.putheader("Host", host or "127.0.0.1:%d" % port)
    for k, v in (headers or {}).items(): c.putheader(k, v)
    c.endheaders()
    r = c.getresponse()
    body = r.read()
    c.close()
    return r.status, body, r

def ask(path, **q):
    status, body, _ = request("/api/" + path + ("?" + urllib.parse.urlencode(q) if q else ""))
    if status != 200: raise Exception("%s: %d %s" % (path, status, body[:200]))
    return json.loads(body)

def check(name, ok, why=""):
    global failed
    print("ok " + name if ok else "FAIL %s: %s" % (name, why), flush=True)
    failed = failed or not ok

def value(op): return struct.unpack("<i", bytes.fromhex(op[9]))[0] if op[9] else None

run = ask("run")
check("run", run["recorded"] and run["launches"] == 13 and run["findings"] >= 6
      and run["operations"] > 400000, run)

flow = ask("flow", skip=0, most=100)
launches = [s for s in flow["steps"] if s[2] == "launch"]
buffers = {b["name"]: b for b in ask("buffers")["buffers"] if b.get("name")}
a, b = buffers["a"], buffers["b"]
uses = dict(map(tuple, launches[0][12]))
check("flow", len(launches) == 13 and uses.get(a["id"]) == 1 and uses.get(b["id"]) == 2,
      flow["steps"][:3])
check("flow_copies", any(s[2] != "launch" and [a["id"], 2] in s[12] and s[11] == 20000
                         for s in flow["steps"]), flow["steps"])
first, second = launches[0][3], launches[1][3]

findings = ask("findings")["findings"]
uninit = [f for f in findings if f["kind"] == "uninit-use" and f.get("thread") == 4012]
check("finding_thread", uninit and uninit[0]["launch"] == second
      and uninit[0]["offset"] == 4012 * 4, findings)
check("finding_text", "Use of a value that was never written" in ask("finding",
    id=uninit[0]["id"])["text"])

# The walk of the paper.
t = ask("thread", launch=second, thread=4012)
load = t["ops"][0]
check("thread", load[2] == 0 and load[12] == b["id"] and load[13] == 4012 * 4
      and t["ops"][-1][2] == 1, t["ops"])
check("site", t["sites"][str(load[6])]["type"] == "int" and t["sites"][str(load[6])]["places"][0][
    1] == 17, t["sites"])
w = ask("writers", record=load[0], lane=load[1])
check("never_written", w["never_written"] and not w["ops"], w)
found = ask("thread", launch=second, thread=4012, address="0x%x" % (int(b["base"], 16) + 4012 * 4))
check("found_by_address", found["index"] == 0, found.get("index"))
peer = ask("thread", launch=second, thread=4013)["ops"][0]
check("peer", peer[13] == 4013 * 4 and peer[12] == b["id"], peer)
at = "0x%x" % (int(b["base"], 16) + 4013 * 4)
e = ask("element", allocation=b["id"], address=at, bytes=4, record=peer[0], lane=peer[1])
writes = [o for o in e["ops"] if o[2] == 1 and o[4] == first]
check("element", e["index"] >= 2 and sorted(o[5] for o in writes) == [4012, 4013], e["ops"][:6])
check("values", -2147483648 in [value(o) for o in writes], writes)
w = ask("writers", record=peer[0], lane=peer[1])
check("writers", sorted(o[5] for o in w["ops"]) in ([4012, 4013], [4012], [4013])
      and all(o[4] == first for o in w["ops"]), w)
conflicts = ask("conflicts", launch=first, thread=4013)["of"]
check("race_peer", any(o[5] == 4012 and o[2] == 1 for i, list in conflicts for o in list),
      conflicts)
touching = ask("touching", launch=first, address=at, bytes=4)["ops"]
check("touching", {4012, 4013} <= {o[5] for o in touching}, touching)
cause = ask("thread", launch=first, thread=4013)["ops"]
check("cause", cause[0][12] == a["id"] and value(cause[0]) == -2147483648, cause)
copy = ask("element", allocation=a["id"], address="0x%x" % (int(a["base"], 16) + 4013 * 4),
           bytes=4)["ops"][0]
check("copy", copy[2] == 5 and value(copy) == -2147483648, copy)
readers = ask("readers", record=writes[0][0], lane=writes[0][1])
check("readers", isinstance(readers["ops"], list))
races = ask("races", launch=first)["races"]
check("races", any({r[0][5], r[1][5]} == {4012, 4013} for r in races) or len(races) > 0, races)

status, body, r = request("/api/contents?" + urllib.parse.urlencode(dict(allocation=b["id"],
    step=launches[0][0], offset=4012 * 4, bytes=8)))
check("contents", status == 200 and len(body) == 16 and body[8:12] == bytes(4)
      and body[12:] == b"\1\1\1\1", body)
status, body, r = request("/api/picture?" + urllib.parse.urlencode(dict(allocation=b["id"],
    step=launches[0][0], type="i32", width=100, rows=50, pool_x=10, pool_y=10)))
columns, rows = struct.unpack_from("<II", body)
flags = body[24 + 12 * columns * rows:]
check("picture", (columns, rows) == (10, 5) and flags[4 * 10 + 1] & 16 and flags[4 * 10 + 1] & 1
      and not flags[0] & 16, (columns, rows, list(flags)))
check("picture_range", struct.unpack_from("<d", body, 8)[0] == -2147483648)

source = ask("source", file=t["sites"][str(load[6])]["places"][0][0])
check("source", "merge_sort.cu" in source["path"] and any(l[0] == 17 for l in source["lines"]),
      source["path"])
info = ask("launch", id=first)
check("launch", info["launch"]["grid"] == [20, 1, 1] and len(info["parameters"]) == 4
      and info["parameters"][0]["allocation"] == b["id"], info)

def calc(e): return ask("calc", expression=e)
for e, kind, v in [("INT_MIN - 1", "int", "2147483647"), ("__int_as_float(0x7f800000)", "float",
    "inf"), ("__fadd_ru(1.0f, 1e-10f)", "float", "1.00000012"), ("__fadd_rd(1.0f, 1e-10f)", "float",
        "1"),
                   ("__float2half_rn(65519.0f)", "half", "65504"), ("__float2half_rn(65520.0f)",
                       "half", "inf"), ("__half_as_ushort(__float2half_rn(1.0f))", "unsigned int",
                                        "15360"),
                   ("__float2bfloat16_rn(3.14159f)", "bfloat16", "3.141"),
                   ("__fdividef(1.0f, 2e38f)", "float", "0"), ("__float2int_rz(3e10f)", "int",
                       "2147483647"), ("__brev(1)", "unsigned int", "2147483648"),
                   ("__byte_perm(0x11223344, 0x55667788, 0x0246)", "unsigned int", "1143113830"),
                   ("7 * (3 + 4) % 10 << 2", "int", "36"), ("-7 / 2", "int", "-3"),
                   ("0xffffffffu + 1", "unsigned int", "0"),
                   ("__ull2float_rn(18446744073709551615u)", "float", "1.84467441e+19"),
                   ("(int)3.99f", "int", "3"), ("__popc(0xff00ff)", "int", "16"),
                   ("1.0f / 3", "float", "0.333333343")]:
    r = calc(e)
    check("calc " + e.replace(" ", ""), r.get("type") == kind and r.get("value") == v, r)
# The device's own functions run on the device of the run; what IEEE arithmetic decides is the same
# there and on the CPU.
check("calc_device", calc("__fdividef(1.0f, 3.0f)")["device"] == "Warpgrind Virtual GPU"
      and calc("1 + 1")["device"].startswith("this machine's CPU"), calc("__fdividef(1.0f, 3.0f)"))
sample = {"f": "1.7f", "d": "2.3", "i": "-5", "u": "7u", "l": "-9ll", "v": "11ull",
          "h": "__float2half_rn(0.7f)", "b": "__float2bfloat16_rn(0.7f)"}
everything = {f[0]: calc("%s(%s)" % (f[0], ", ".join(sample[x] for x in f[1])))
              for f in ask("calc")["functions"]}
check("calc_all", not any("error" in r for r in everything.values()),
      [n for n, r in everything.items() if "error" in r])
ran = [n for n, r in everything.items() if r["device"] == "Warpgrind Virtual GPU"]
check("calc_ran", len(ran) > 120 and all(n in ran for n in ("__sinf", "__powf", "rsqrtf",
    "__fma_rd", "__double2ull_ru", "__float2half_rz", "__ll2float_rd")), len(ran))
for e, v in [("__fsqrt_ru(2.0f)", "1.41421366"), ("__fsqrt_rd(2.0f)", "1.41421354"),
             ("__double2int_rn(2.5)", "2"), ("__ddiv_rz(1.0, 3.0)", "0.33333333333333331"),
             ("__saturatef(1.5f)", "1"), ("rsqrtf(4.0f)", "0.5"), ("__fmaf_rn(3.0f, 5.0f, -1.0f)",
                 "14"), ("__tanhf(0.0f)", "0"), ("__log2f(8.0f)", "3")]:
    check("calc_there " + e.replace(" ", ""), calc(e).get("value") == v, calc(e))
check("calc_overflow", "overflow" in calc("INT_MIN - 1")["notes"])
check("calc_mistakes", all("error" in calc(e) for e in ["", "1 +", "foo(1)", "__popc()", "1 / 0",
    "(" * 400, "1.5 & 2", "99999999999999999999"]))

# Without the token nothing is said, and always the same.
check("token", len(token) == 32 and set(token) <= set("0123456789abcdef"), token)
wrong = ["", "/", "/" + token[:-1], "/" + token[1:], "/" + token[:-1] + ("0" if token[-1] != "0"
    else "1"), "/" + token.upper() + "x", "/" + "0" * 32, "//" + token, "/x/" + token, "/" + token
    + "0"]
for prefix in wrong:
    for path in ["/", "/index.html", "/app.js", "/app.css", "/api/run", "/api/source?file=0",
                 "/api/progress", "/nothing"]:
        status, body, r = request(path, prefix=prefix)
        if (status, body, r.getheader("Server")) != (403, b"", None):
            check("without_token %s%s" % (prefix, path), False, (status, body))
check("without_token", request("/", prefix="")[0] == 403 and request("/api/run", prefix="",
    method="POST")[0] == 403 and request("/api/run?token=" + token, prefix="")[0] == 403)
check("token_elsewhere", request("/api/run", prefix="", headers={"Cookie": "token=" + token,
    "Authorization": "Bearer " + token, "Referer": sys.argv[1]})[0] == 403)
check("with_token", all(request(path)[0] == 200 for path in ["/", "/index.html", "/app.js",
    "/app.css", "/api/run", "/api/progress"]))
check("no_slash", request("", prefix="/" + token)[0] in (403, 404))

# What must be refused.
for host in ["example.com", "127.0.0.1", "127.0.0.1:%d" % (port + 1), "localhost:1",
             "127.0.0.1.example.com:%d" % port]:
    check("host " + host.replace(str(port + 1), "other").replace(str(port), "port"),
          request("/api/run", host=host)[0] == 403 and request("/", host=host)[0] == 403)
check("localhost", request("/api/run", host="localhost:%d" % port)[0] == 200)
check("methods", all(request("/api/run", method=m)[0] == 405 for m in ["POST", "PUT", "DELETE",
    "OPTIONS"]))
check("other_sites", request("/api/run", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403)
_, _, r = request("/")
check("headers", "default-src 'none'" in (r.getheader("Content-Security-Policy") or "")
      and r.getheader("X-Content-Type-Options") == "nosniff"
      and r.getheader("Access-Control-Allow-Origin") is None
      and r.getheader("Referrer-Policy") == "no-referrer"
      and r.getheader("Cache-Control") == "no-store")
_, _, r = request("/api/run", headers={"Origin": "http://example.com"})
check("no_cors", r.status == 403 and r.getheader("Access-Control-Allow-Origin") is None)
check("own_origin", request("/api/run", headers={"Origin": "http://127.0.0.1:%d" % port})[0] == 200
      and all(request("/api/run", headers={"Origin": o})[0] == 403 for o in ("null",
          "https://127.0.0.1:%d" % port, "http://127.0.0.1", "")))
for path in ["/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/api/../run", "//etc/passwd",
             "/app.js/", "/api/", "/api/nothing", "/api/run/", "/api/source?file=../../etc/passwd"]:
    check("path " + path, request(path)[0] in (400, 404), request(path)[0])
for q in ["thread", "thread?launch=1", "thread?launch=-1&thread=0", "thread?launch=1&thread=0x10",
          "thread?launch=99999999999&thread=1", "thread?launch=1&thread=1&most=100000",
          "thread?launch=1&thread=1&evil=1",
          "thread?launch=1%20or%201&thread=1", "element?allocation=1&address=123",
          "element?allocation=1&address=0xfffffffffffffffff", "source?file=99999999",
          "source?file=-1", "source", "finding?id=x", "writers?record=1&lane=32",
          "contents?allocation=%d&bytes=99999999" % b["id"],
          "contents?allocation=%d&offset=19999&bytes=2" % b["id"],
          "contents?allocation=%d&offset=18446744073709551615&bytes=2" % b["id"],
          "contents?allocation=77777&bytes=1",
          "picture?allocation=%d&type=i32&width=0&rows=1" % b["id"],
          "picture?allocation=%d&type=i31&width=1&rows=1" % b["id"],
          "picture?allocation=%d&type=u8&width=16777216&rows=16777216" % b["id"],
          "picture?allocation=%d&type=i32&width=1&rows=1&components=4&component=4" % b["id"],
          "calc?expression=" + "1" * 600, "thread?" + "&".join("a%d=1" % i for i in range(40))]:
    status, body, _ = request("/api/" + q)
    check("bad " + q[:60], status in (400, 404) and (b"error" in body), "%d %s" % (status,
        body[:100]))
status, body, _ = request("/api/thread?launch=%d&thread=99999999" % first)
check("unknown_thread", status != 200 and b"5120 threads" in body, body)
check("unknown_element", ask("element", allocation=b["id"], address="0x%x" % (int(b["base"], 16)
    + 19996), bytes=4)["ops"] is not None)
status, body, _ = request("/api/element?allocation=424242&address=0x10")
check("unknown_buffer", status in (404, 500) and b"error" in body, status)
check("progress", ask("progress")["working"] == [])
check("alive", ask("run")["launches"] == 13)
sys.exit(failed)
