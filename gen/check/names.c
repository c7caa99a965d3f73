#include "check/names.h"

#include <limits.h>

const struct check_name check_names[] = {
    {"argument", "argument that the probe lacks, or that this bpftrace cannot read", false},
    {"attach", "probe that this bpftrace cannot attach to", false},
    {"bitfield", "whole struct with bitfields that bpftrace prints wrongly", false},
    {"call", "call with a wrong argument", false},
    {"constant", "condition or comparison with a constant result", false},
    {"dead-probe", "probe that cannot fire in this process", false},
    {"disagree", "argument that differs between probes or sites", false},
    {"division", "division with a different result than in C", false},
    {"duplicate", "duplicate probe or clause", false},
    {"enum", "enumerator of a different enum", false},
    {"floating-point", "floating-point number, which bpftrace does not support", false},
    {"format", "conversion of printf() that does not fit its value", false},
    {"inlined", "inlined calls, which no probe sees", false},
    {"kernel-type", "kernel struct in a clause of the program", false},
    {"key", "map set under one key and read under another", false},
    {"latency", "duration measured from a wrong start", false},
    {"limit", "script that exceeds a limit of this bpftrace", false},
    {"lock", "difference from the lock file of --against", false},
    {"narrowing", "type too narrow for its value", false},
    {"operator", "result of strncmp() used as a truth", false},
    {"parentheses", "misleading precedence", false},
    {"pointer", "pointer to a different type, or number used as a pointer", false},
    {"range", "number that this bpftrace counts wrongly or loses", true},
    {"replaced", "file that was replaced while the process ran", false},
    {"scope", "probe that fires for other processes, or misses the intended ones", false},
    {"shift", "shift out of range, or with a different result than in C", false},
    {"sign", "number that bpftrace treats as unsigned", false},
    {"string-address", "address of a string used as the string", false},
    {"string-cut", "string too long for this bpftrace", false},
    {"table", "enum table that is unused, slow or incomplete", false},
    {"unit", "duration in another unit than its map's name", false},
    {"unreachable", "unreachable code", false},
    {"unset", "map that is read but never set", false},
    {"unused", "statement without effect, or value that is never read", false},
    {"version", "feature that this bpftrace lacks", false},
};
const size_t n_check_names = sizeof(check_names) / sizeof(check_names[0]);

const struct check_name *check_name_find(struct str name)
{
	for (size_t i = 0; i < n_check_names; i++)
		if (str_eqz(name, check_names[i].name))
			return &check_names[i];
	return NULL;
}

const char *check_name_near(struct str wanted)
{
	const char *near = NULL;
	unsigned best = UINT_MAX;
	for (size_t i = 0; i < n_check_names; i++)
		if (str_is_nearer(wanted, str_from(check_names[i].name), &best))
			near = check_names[i].name;
	return near;
}
