#include "check/names.h"

#include <limits.h>

const struct check_name check_names[] = {
    {"argument", "an argument that the probe does not have, or that this bpftrace cannot read",
     false},
    {"attach", "a probe that this bpftrace cannot attach to", false},
    {"bitfield", "a whole struct whose bitfields bpftrace prints wrong", false},
    {"call", "a function that is called with what it cannot take", false},
    {"constant", "a condition or comparison whose result is always the same", false},
    {"dead-probe", "a probe that cannot fire in this process", false},
    {"disagree", "an argument that is not the same at all probes or sites", false},
    {"division", "a division whose result is not what C has", false},
    {"duplicate", "what is written twice and happens twice", false},
    {"enum", "names or numbers of another enum than the value's", false},
    {"floating-point", "floating-point numbers, which bpftrace does not know", false},
    {"format", "a conversion of printf() that does not fit its value", false},
    {"growth", "a map that gets a new key for each event", true},
    {"inlined", "calls of a function that are no calls any more, and that no probe sees", false},
    {"kernel-type", "a struct of the kernel's in a clause of the program", false},
    {"key", "a map that is used with different kinds of keys", false},
    {"latency", "a time that is measured from where it did not begin", false},
    {"limit", "more than this bpftrace can take", false},
    {"lock", "what is not as the file of --against has it", false},
    {"mixed", "a map or variable that is given values of different kinds", false},
    {"narrowing", "a type that cannot hold the value it is given", false},
    {"operator", "an operator, comparison or condition that does not take what it is given", false},
    {"parentheses", "an expression that C reads otherwise than it looks", false},
    {"pointer", "a pointer to something else, or a number that is followed as one", false},
    {"range", "numbers that this bpftrace counts wrongly or loses", true},
    {"replaced", "a file that is not the one of its name any more", false},
    {"scope", "events of other processes, or none of those that are meant", false},
    {"shadow", "a variable that is declared again", false},
    {"shift", "a shift that leaves no bit, or whose result is not what C has", false},
    {"sign", "a number that bpftrace keeps or compares without its sign", false},
    {"string-address", "a string of which the address is used", false},
    {"string-cut", "a string that this bpftrace cannot hold", false},
    {"switch", "a probe that fires only when its program was told so", false},
    {"table", "a table of names that is of no use, slow, or lacks a value", false},
    {"unit", "a time in another unit than the name of its map says", false},
    {"unknown", "a word that bpftrace does not have", false},
    {"unreachable", "what is never run", false},
    {"unset", "a map or variable that is read and never set", false},
    {"unused", "what has no effect, or is never read", false},
    {"version", "what this bpftrace does not have yet", false},
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
