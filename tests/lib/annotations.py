"""The annotations of a test program, and the findings that they expect (docs/testing.md)."""
import dataclasses
import os
import re
import subprocess
from typing import Optional

READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "annotations.awk")
WORDS = ("text", "has")                      # attributes that take the rest of the annotation


@dataclasses.dataclass
class Mark:
    """One expected finding. What is None is not compared; line is None for one without a place."""
    kind: str
    line: Optional[int]
    count: Optional[int] = None
    bytes: Optional[int] = None
    times: int = 1
    format: Optional[str] = None
    group: Optional[str] = None
    text: Optional[str] = None
    has: Optional[str] = None
    tool: Optional[str] = None               # expected only if this tool runs too

    def matches_kind(self, kind):
        if self.kind == "race":
            return kind in ("race-global", "race-shared", "race-host")
        return kind == self.kind

    def __str__(self):
        shown = [self.kind]
        for field in dataclasses.fields(self)[1:]:
            value = getattr(self, field.name)
            if value is not None and (field.name, value) != ("times", 1):
                shown.append("%s=%s" % (field.name, value))
        return " ".join(shown)


def parse_mark(text, line):
    """KIND ATTRIBUTE=VALUE… (a remark)"""
    kind, _, rest = text.strip().partition(" ")
    mark = Mark(kind, line)
    while rest:
        rest = rest.strip()
        m = re.match(r"([a-z]+)=", rest)
        if rest.startswith("(") and rest.endswith(")"):
            return mark
        if not m or m.group(1) not in Mark.__dataclass_fields__:
            raise ValueError("line %s: not an attribute: %s" % (line, rest))
        key, rest = m.group(1), rest[m.end():]
        if key in WORDS:
            value, rest = rest, ""
        else:
            value, _, rest = rest.partition(" ")
        setattr(mark, key, int(value) if key in ("count", "bytes", "times") else value)
    return mark


def read(path):
    """(line, key, value) of every annotation; line is 0 for a comment on a line of its own."""
    out = subprocess.run(["awk", "-f", READER, path], stdout=subprocess.PIPE, check=True).stdout
    rows = [row.split("\t", 2) for row in out.decode().splitlines()]
    return [(int(line), key, value) for line, key, value in rows]


def values(path, key, device="cpu"):
    """Of `key: VALUE`, and of `key-cpu: VALUE` or `key-gpu: VALUE` on that device."""
    return [v for line, k, v in read(path) if line == 0 and k in (key, key + "-" + device)]


def setting(path, key):
    return next(iter(values(path, key)), None)


def lines(path, wanted):
    """The lines of code that have this annotation."""
    return [line for line, key, _ in read(path) if line and key == wanted]


def with_lines(path, text):
    """{NAME} in the text becomes the number of the line that `label: NAME` marks."""
    labels = {value: line for line, key, value in read(path) if key == "label"}
    return re.sub(r"\{(\w+)\}", lambda m: str(labels[m.group(1)]), text)


def marks(path, device="cpu", tools=()):
    """The findings that are expected on a device, where these tools run."""
    found = []
    for line, key, value in read(path):
        if key not in ("finds", "finds-" + device):
            continue
        parts = [value] if re.search(r" (text|has)=", value) else value.split("; ")
        found += [parse_mark(part, line or None) for part in parts]
    return [m for m in found if m.tool is None or m.tool in tools or "all" in tools]
