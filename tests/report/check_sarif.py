#!/usr/bin/env python3
"""check_sarif.py FILE…: whether a file is SARIF 2.1.0 as the standard and code scanning want it, as
far as Warpgrind writes it.

Written from the standard's text: for each object the members it must have, those it may have, and
what they hold. What is not
described here is an error, so that a new member is looked up before it is used."""
import json, re, sys

bad = []
def say(where, what): bad.append("%s: %s" % (where, what))

def text(v, at):
    if not isinstance(v, str) or not v: say(at, "not a text, or empty")
def boolean(v, at):
    if not isinstance(v, bool): say(at, "not true or false")
def whole(least):
    def check(v, at):
        if not isinstance(v, int) or isinstance(v, bool) or v < least:
            say(at, "not a whole number from %d on: %r" % (least, v))
    return check
def word(*words):
    def check(v, at):
        if v not in words: say(at, "%r is none of %s" % (v, words))
    return check
def exactly(value): return word(value)
def anything(v, at): pass
def bag(v, at):
    if not isinstance(v, dict): say(at, "not an object")
def texts(v, at):
    bag(v, at)
    for k, x in v.items(): text(x, at + "." + k)
def uri(v, at):
    text(v, at)
    if re.search(r"[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]", v):
        say(at, "a character no URI has: %r" % v)
    if re.search(r"%(?![0-9A-Fa-f]{2})", v): say(at, "a lone %%: %r" % v)
    if ":" not in v and v.startswith("/"): say(at, "neither relative nor a URI: %r" % v)
def several(check, unique=False, least=0):
    def every(v, at):
        if not isinstance(v, list): return say(at, "not a list")
        if len(v) < least: say(at, "fewer than %d elements" % least)
        if unique and len({json.dumps(x, sort_keys=True) for x in v}) != len(v):
            say(at, "an element stands there twice")
        for i, x in enumerate(v): check(x, "%s[%d]" % (at, i))
    return every
def thing(must, **members):
    def check(v, at):
        if not isinstance(v, dict): return say(at, "not an object")
        for m in must:
            if m not in v: say(at, "has no " + m)
        for k, x in v.items():
            if k == "properties": bag(x, at + ".properties")
            elif k in members: members[k](x, at + "." + k)
            else: say(at, "has a member that is not described: " + k)
    return check

level = word("none", "note", "warning", "error")
message = thing(["text"], text=text, markdown=text)
plain = thing(["text"], text=text)
artifact = thing(["uri"], uri=uri, uriBaseId=text)
region = thing(["startLine"], startLine=whole(1), startColumn=whole(1), endLine=whole(1),
               endColumn=whole(1))
physical = thing(["artifactLocation"], artifactLocation=artifact, region=region)
logical = thing([], name=text, fullyQualifiedName=text, decoratedName=text, kind=text)
location = thing([], id=whole(0), physicalLocation=physical, logicalLocations=several(logical,
    unique=True), message=message)
flow = thing(["threadFlows"], threadFlows=several(thing(["locations"],
    locations=several(thing([], location=location), least=1)), least=1))
stack = thing(["frames"], message=message, frames=several(thing([], location=location,
    module=text)))
result = thing(["message", "ruleId", "locations"], ruleId=text, ruleIndex=whole(0), level=level,
               message=message, locations=several(location, least=1),
               relatedLocations=several(location, unique=True), codeFlows=several(flow),
               stacks=several(stack, unique=True),
               partialFingerprints=texts, occurrenceCount=whole(1))
rule = thing(["id"], id=text, name=text, shortDescription=plain, fullDescription=plain,
             defaultConfiguration=thing([], level=level))
driver = thing(["name"], name=text, version=text, semanticVersion=text, rules=several(rule,
    unique=True))
notification = thing(["message"], level=level, message=message)
invocation = thing(["executionSuccessful"], executionSuccessful=boolean, exitCode=whole(-2**31),
                   processId=whole(1),
                   toolExecutionNotifications=several(notification))
run = thing(["tool", "results"], tool=thing(["driver"], driver=driver),
            invocations=several(invocation, least=1), originalUriBaseIds=bag,
            results=several(result))
log = thing(["version", "runs", "$schema"], **{"$schema": uri, "version": exactly("2.1.0"),
                                               "runs": several(run, least=1)})

def every(v, key):
    """Every value of that key, wherever it is."""
    if isinstance(v, dict):
        for k, x in v.items():
            if k == key: yield x
            yield from every(x, key)
    elif isinstance(v, list):
        for x in v: yield from every(x, key)

def check(path):
    v = json.load(open(path, encoding="utf-8"))
    log(v, "log")
    if bad: return
    for i, r in enumerate(v["runs"]):
        rules, bases = r["tool"]["driver"]["rules"], r["originalUriBaseIds"]
        if len({x["id"] for x in rules}) != len(rules): say("rules", "an id stands there twice")
        for name, b in bases.items():
            if not b["uri"].startswith("file:///") or not b["uri"].endswith("/"):
                say("originalUriBaseIds." + name, "not a folder")
        for a in every(r, "artifactLocation"):
            relative = not re.match(r"[a-z]+:", a["uri"])
            if relative and a.get("uriBaseId") not in bases: say(a["uri"], "relative to nothing")
            if not relative and "uriBaseId" in a: say(a["uri"], "absolute, and has a base")
            if relative and re.search(r"(^|/)\.\.?(/|$)", a["uri"]):
                say(a["uri"], "leaves its folder")
        prints = set()
        for k, x in enumerate(r["results"]):
            at = "results[%d]" % k
            if rules[x["ruleIndex"]]["id"] != x["ruleId"]: say(at, "ruleIndex and ruleId differ")
            if "region" not in x["locations"][0].get("physicalLocation", {}):
                say(at, "its first location has no line")
            ids = [l["id"] for l in x.get("relatedLocations", [])]
            if len(set(ids)) != len(ids): say(at, "two related locations with one id")
            p = json.dumps(x["partialFingerprints"], sort_keys=True)
            if p in prints: say(at, "the fingerprint of another result")
            prints.add(p)

for path in sys.argv[1:]: check(path)
print("\n".join(bad))
sys.exit(1 if bad else 0)
