"""Captures with markup in every string and every key, for tests/fleet/report.t.

    markup.py MODULE FOLDER     MODULE: scripts/btgen-report

Each place of the records below (found by walking them) gets each payload, alone in a capture that is made into a page: its
elements and their attributes must be those of a page with a plain word there. Prints the places where they are not. In FOLDER
all.json has all of these records, for a browser to look at.
"""
import contextlib
import copy
import html.parser
import importlib.machinery
import importlib.util
import io
import json
import os
import sys

PAYLOADS = ['<img src=x onerror="window.hacked=1">', "\"'><svg onload=window.hacked=2></svg><script>window.hacked=3</script>",
            "</script></style></title></pre><script>window.hacked=4</script>", "' onmouseover='window.hacked=5' style='position:fixed' x='"]


def event(ms, probe, **more):
    return dict(time=f"2026-01-31T12:00:05.{ms:03d}000000+01:00", cpu=0, pid=42, tid=43, comm="app", probe=probe, text="text",
                fields=dict({"o": "one", "enum": {"name": "ON", "value": 1}, "bytes": {"text": "t", "hex": "61"}, "list": ["element"]}, **more))


RECORDS = [
    dict(capture=dict(host="host", boot_id="0", monotonic=10**12, wall="2026-01-31T12:00:00.000000000+01:00", synchronized=True,
                      version="0.1.0", script="own.bt", tracks=[dict(probe="change", by="{o}", kind="begin", name="{enum}"),
                                                                dict(probe="change_done", by="{o}", kind="end")])),
    dict(capture=dict(host="host", script="second.bt", tracks=[dict(probe="change", by="{o}", kind="begin", name="{enum}"),
                                                               dict(probe="change_done", by="{o}", kind="state", name="{enum}")])),
    dict(program="/bin/app", pid=42, build="abcd"),
    event(1, "app:hello"), event(10, "app:change"), event(20, "app:change_done"), event(30, "app:call_start"), event(40, "app:call_done"),
    event(50, "app:stack", ustack=["inner", "outer"]),
    dict(lost={"total": 12, "app:hello": 12}),
    dict(event(60, "app:print"), map="@on_the_way", entries=[dict(key=["key"], value=5)]),
    event(70, "app:hello"),
    dict(map="@histogram", entries=[dict(key=["key"], histogram=[dict(min=0, max=1, count=3)], percentiles={"p50": dict(min=1, max=2)})]),
    dict(map="@series", entries=[dict(key=["key"], series=[dict(time="12:00", value=4)])]),
    dict(map="@stats", entries=[dict(key=["key"], stats=dict(count=3, average=2, total=6))]),
    dict(map="@stacks", entries=[dict(key=["key", ["inner+3", "outer"]], value=900)]),
    dict(map="@value", entries=[dict(value={"name": "READ", "value": 2})]),
    dict(map="@values", entries=[dict(key=["key", {"name": "READ", "value": 2}], value="value"), dict(key=["other"], value=5)]),
    dict(text="other output"),
]


def places(value, path=()):
    """Paths to strings and keys, and to numbers, which a forger can make strings of."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield (*path, ("key", key))
            yield from places(member, (*path, key))
    elif isinstance(value, list):
        for i, element in enumerate(value):
            yield from places(element, (*path, i))
    else:
        yield path


def with_text(records, path, text):
    """A copy, with the text at that place."""
    result = copy.deepcopy(records)
    parent = result
    for step in path[:-1]:
        parent = parent[step]
    if isinstance(path[-1], tuple):
        old = path[-1][1]
        members = [(text if key == old else key, value) for key, value in parent.items()]
        parent.clear()
        parent.update(members)
    else:
        parent[path[-1]] = text
    return result


class Elements(html.parser.HTMLParser):
    """Tags and the names of their attributes, in order."""

    def __init__(self, page):
        super().__init__()
        self.seen = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, *(name for name, _ in attrs)))


def main():
    module, folder = sys.argv[1:]
    loader = importlib.machinery.SourceFileLoader("report", module)
    report = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", loader))
    loader.exec_module(report)
    capture = os.path.join(folder, "one.json")

    def elements(records):
        with open(capture, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(record) + "\n" for record in records)
        with contextlib.redirect_stderr(io.StringIO()):
            with open(capture, "rb") as file:
                page, _, _ = report.read(file, capture, 5000)
        return Elements(page).seen

    seen, wrong = 0, set()
    with open(os.path.join(folder, "all.json"), "w", encoding="utf-8") as every:
        every.writelines(json.dumps(record) + "\n" for record in RECORDS)
        for n, path in enumerate(places(RECORDS)):
            plain = elements(with_text(RECORDS, path, "word"))
            for payload in PAYLOADS[n % 2::2]:  # each is converted by a process of its own
                records = with_text(RECORDS, path, payload)
                every.write(json.dumps(records[path[0]]) + "\n")
                seen += 1
                if elements(records) != plain:
                    wrong.add(path)
    print(f"{seen > 500} {len(wrong)}", *sorted(map(str, wrong)), sep="\n")


if __name__ == "__main__":
    main()
