#!/usr/bin/env bash
# btgen convert -f otlp: each line, by OpenTelemetry's own protobuf definitions, is a request and nothing else, and survives the way
# through protobuf's bytes. The definitions are those in the npm package @opentelemetry/otlp-transformer.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
for tool in node npm; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
tree=$("$top/tests/fleet/install.sh" otlp 2>"$tmp/install") || skip_all "no OpenTelemetry to be had: $(head -n 1 "$tmp/install")"
cd "$tmp" || exit

# Every kind of value, calls in each other, a traceparent, tracks of objects, and strings that are hard to carry
python3 - <<'END' >capture.json
import json
def line(ns, probe, tid=11, **fields):
    print(json.dumps({"time": "2026-01-31T12:00:00.%09d+01:00" % ns, "cpu": 0, "pid": 10, "tid": tid, "comm": "app", "probe": probe, "text": "t", "fields": fields}))
tracks = [dict(probe="job", by="job {id}", kind="state", name="{state}")]
print(json.dumps({"capture": {"host": "a\u00e9", "boot_id": None, "wall": "2026-01-31T12:00:00.000000000+01:00", "tracks": tracks}}))
deep = 5
for _ in range(18):
    deep = {"a": [deep]}
for n in range(20):
    at = n * 10000
    line(at + 1, "p:request_start", traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", n=n - 10)
    line(at + 2, "p:inner_start", large="18446744073709551615", least=-2**53, beyond=2**62, ratio=1e300, inf="inf", small=-1.5e-7, on=True, off=False, none=None)
    line(at + 3, "p:inner_done")
    line(at + 4, "p:values_start", empty={}, list=[], mixed=[1, None, "x", [2.5]], deep=deep, bytes={"text": "a\ufffd", "hex": "61ff"}, state={"name": None, "value": 9})
    line(at + 5, "p:values_done")
    line(at + 6, "p:text_start", s="\u0000\u001b[31m\"\\\u2028\U0001f600\ud800</script>")
    line(at + 7, "p:text_done")
    line(at + 8, "p:job", id=n % 3, state={"name": "BUSY", "value": 1})
    line(at + 9, "p:request_done")
END
"$btgen" convert -f otlp -o spans.jsonl capture.json 2>said
is "$? $(wc -l <spans.jsonl)" "0 97" "a capture as spans"

# Ids are in hex, where protobuf's JSON has base64. What a definition does not name is not in what comes back.
cat >read.js <<'END'
const { deepStrictEqual } = require("assert");
const root = require(process.argv[2] + "/node_modules/@opentelemetry/otlp-transformer/build/src/generated/root");
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
const ids = ["traceId", "spanId", "parentSpanId"];
let n = 0;
for (const line of require("fs").readFileSync(process.argv[3], "utf8").trimEnd().split("\n")) {
	const wanted = JSON.parse(line);
	for (const spans of wanted.resourceSpans[0].scopeSpans)
		for (const span of spans.spans)
			for (const id of ids.filter(id => id in span)) {
				if (!/^[0-9a-f]+$/.test(span[id]) || /^0+$/.test(span[id]) || span[id].length !== (id === "traceId" ? 32 : 16))
					throw new Error(`${id} ${span[id]}`);
				span[id] = Buffer.from(span[id], "hex").toString("base64");
			}
	const message = Request.fromObject(wanted);
	const wrong = Request.verify(message);
	if (wrong)
		throw new Error(wrong);
	const back = Request.toObject(Request.decode(Request.encode(message).finish()), { longs: String, bytes: String });
	// Empty lists do not go through bytes
	const plain = o => JSON.parse(JSON.stringify(o, (_, v) => (v && Array.isArray(v.values) && !v.values.length ? {} : v)));
	deepStrictEqual(plain(back), plain(wanted));
	n++;
}
console.log(n);
END
is "$(node read.js "$tree" spans.jsonl 2>&1)" 97 "each line is a request of OpenTelemetry's definitions, with nothing beside it, and the same behind protobuf's bytes"
for wrong in 's/"kind": 1/"kind": 1, "sort": 1/' 's/"traceId": "../"traceId": "/' 's/"intValue": "-10"/"intValue": "-10", "number": 1/' 's/startTimeUnixNano/start_time/'; do
	sed "$wrong" spans.jsonl >wrong.jsonl
	not_ok "what is wrong is found: $wrong" node read.js "$tree" wrong.jsonl 2>said
done
done_testing
