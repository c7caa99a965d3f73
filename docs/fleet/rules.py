"""Prints Prometheus's recording rules for histograms of PCP's bpftrace agent.

    python3 rules.py >btgen.rules.yml

The agent's buckets are instances, named MIN-MAX, or KEY,MIN-MAX, and each counts for itself. Prometheus computes with
cumulative ones that have a label le: btgen_bucket{metric="SCRIPT_MAP", key="KEY", le="MAX"}, with the labels of the host. For hist() only:
buckets of lhist() have bounds of the script's own.
"""
BITS = 40  # in microseconds 12 days: what is larger has no le but +Inf

RULE = """\
      - record: btgen_bucket
        labels: {le: "%s"}
        expr: |
          sum without (instname, instid, metrictype) (
            label_replace(
              label_replace(
                {__name__=~"bpftrace_scripts_.+_histogram", instname=~"(.*,)?(%s)"}
                  or {__name__=~"bpftrace_scripts_.+", metrictype="histogram", instname=~"%s"},
                "metric", "${1}_$2", "__name__", "bpftrace_scripts_(.+)_data_(.+?)(_histogram)?"),
              "key", "$1", "instname", "(.*),[^,]*"))"""


def rule(limit, buckets):
    return RULE % (limit, buckets, buckets)


def main():
    print("groups:\n  - name: btgen\n    rules:")
    buckets = ["-inf--1"]
    for bit in range(BITS + 1):
        low, high = (1 << bit) >> 1, (1 << bit) - 1
        buckets.append("%d-%d" % (low, high))
        print(rule(high, "|".join(buckets)))
    print(rule("+Inf", ".*"))


main()
