#include "lang/vocabulary.h"

static const struct provider providers[] = {
    {"BEGIN", "begin", PROVIDER_BEGIN, MEMORY_PROGRAM},
    {"END", "end", PROVIDER_END, MEMORY_PROGRAM},
    {"interval", "i", PROVIDER_TIME, MEMORY_PROGRAM},
    {"profile", "p", PROVIDER_OTHER, MEMORY_PROGRAM},
    {"usdt", "U", PROVIDER_USDT, MEMORY_PROGRAM},
    {"uprobe", "u", PROVIDER_UPROBE, MEMORY_PROGRAM},
    {"uretprobe", "ur", PROVIDER_URETPROBE, MEMORY_PROGRAM},
    {"software", "s", PROVIDER_OTHER, MEMORY_PROGRAM},
    {"hardware", "h", PROVIDER_OTHER, MEMORY_PROGRAM},
    {"watchpoint", "w", PROVIDER_OTHER, MEMORY_PROGRAM},
    {"asyncwatchpoint", "aw", PROVIDER_OTHER, MEMORY_PROGRAM},
    {"self", NULL, PROVIDER_OTHER, MEMORY_PROGRAM},
    {"test", NULL, PROVIDER_OTHER, MEMORY_PROGRAM},
    {"bench", NULL, PROVIDER_OTHER, MEMORY_PROGRAM},
    {"kprobe", "k", PROVIDER_KPROBE, MEMORY_KERNEL},
    {"kretprobe", "kr", PROVIDER_KRETPROBE, MEMORY_KERNEL},
    {"tracepoint", "t", PROVIDER_OTHER, MEMORY_KERNEL},
    {"rawtracepoint", "rt", PROVIDER_OTHER, MEMORY_KERNEL},
    {"fentry", "f", PROVIDER_OTHER, MEMORY_KERNEL},
    {"fexit", "fr", PROVIDER_OTHER, MEMORY_KERNEL},
    {"kfunc", NULL, PROVIDER_OTHER, MEMORY_KERNEL}, // what fentry was called up to 0.21
    {"kretfunc", NULL, PROVIDER_OTHER, MEMORY_KERNEL},
    {"iter", "it", PROVIDER_OTHER, MEMORY_KERNEL},
};

const struct provider *vocabulary_provider(struct str word)
{
	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
		const struct provider *p = &providers[i];
		if (str_eqz(word, p->name) || (p->short_name && str_eqz(word, p->short_name)))
			return p;
	}
	return NULL;
}

static bool has_number_after(struct str word, const char *prefix)
{
	if (!str_has_prefix(word, str_from(prefix)))
		return false;
	struct str digits = str_from_offset(word, str_from(prefix).n);
	for (size_t i = 0; i < digits.n; i++)
		if (digits.p[i] < '0' || digits.p[i] > '9')
			return false;
	return digits.n > 0;
}

bool vocabulary_is_builtin(struct str word)
{
	static const char *const words[] = {
	    "args",    "cgroup", "comm",     "cpid",	 "cpu",	   "ctx",    "curtask",
	    "elapsed", "func",	 "gid",	     "jiffies",	 "kstack", "ncpus",  "nsecs",
	    "numaid",  "pid",	 "ppid",     "probe",	 "rand",   "retval", "tid",
	    "uid",     "ustack", "username", "usermode", NULL};
	return str_is_any(word, words) || str_has_prefix(word, STR("__builtin_")) ||
	       has_number_after(word, "arg") || has_number_after(word, "sarg");
}

bool vocabulary_is_type_word(struct str word)
{
	static const char *const words[] = {
	    "struct", "union", "enum",	 "const",  "volatile", "unsigned", "signed", "bool",
	    "char",   "short", "int",	 "long",   "void",     "int8",	   "int16",  "int32",
	    "int64",  "uint8", "uint16", "uint32", "uint64",   "string",   NULL};
	return str_is_any(word, words);
}

bool vocabulary_arg_number(struct str word, unsigned *ret)
{
	if (!has_number_after(word, "arg") || word.n > 5 || (word.n > 4 && word.p[3] == '0'))
		return false;
	*ret = 0;
	for (size_t i = 3; i < word.n; i++)
		*ret = *ret * 10 + (unsigned)(word.p[i] - '0');
	return true;
}
