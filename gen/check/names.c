#include "check/check.h"

const struct check_name check_names[] = {
    {"argument", "argument that the probe lacks, or that this bpftrace cannot read"},
    {"attach", "probe that this bpftrace cannot attach to"},
    {"bitfield", "whole struct with bitfields that bpftrace prints wrongly"},
    {"call", "call with a wrong argument"},
    {"constant", "condition or comparison with a constant result"},
    {"dead-probe", "probe that cannot fire in this process"},
    {"disagree", "argument that differs between probes or sites"},
    {"division", "division with a different result than in C"},
    {"duplicate", "duplicate probe or clause"},
    {"enum", "enumerator of a different enum"},
    {"floating-point", "floating-point number, which bpftrace does not support"},
    {"format", "conversion of printf() that does not fit its value"},
    {"inlined", "inlined calls that a probe misses, folded ones it has extra"},
    {"kernel-type", "kernel struct in a clause of the program"},
    {"key", "map set under one key and read under another"},
    {"limit", "script that exceeds a limit of this bpftrace"},
    {"lock", "difference from the lock file of --against"},
    {"narrowing", "type too narrow for its value"},
    {"operator", "result of strncmp() used as a condition"},
    {"pointer", "pointer to a different type, or number used as a pointer"},
    {"replaced", "file that was replaced while the process ran"},
    {"scope", "probe that fires for other processes, or misses the intended ones"},
    {"shift", "shift out of range, or with a different result than in C"},
    {"sign", "number that bpftrace treats as unsigned"},
    {"string-address", "address of a string used as the string"},
    {"string-cut", "string too long for this bpftrace"},
    {"switch", "probe that fires only with an option of its program"},
    {"syntax", "statement or predicate that btgen cannot read"},
    {"table", "enum table that is unused, slow or incomplete"},
    {"unset", "map that is read but never set"},
    {"unused", "comparison whose result is not used"},
    {"version", "feature that this bpftrace lacks"},
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
