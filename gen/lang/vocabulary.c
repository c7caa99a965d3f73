#include "lang/vocabulary.h"

#include <strings.h>

static const struct provider no_provider,
    providers[] = {
	{"BEGIN", "begin", WHEN_BEGIN, OF_TRACE, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"END", "end", WHEN_END, OF_TRACE, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"interval", "i", WHEN_TIMER, OF_TRACE, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"self", NULL, WHEN_EVENT, OF_TRACE, PLACE_NONE, .memory = MEMORY_PROGRAM, .since = 22},
	{"bench", NULL, WHEN_EVENT, OF_TRACE, PLACE_NONE, .memory = MEMORY_PROGRAM, .since = 24},
	{"test", NULL, WHEN_EVENT, OF_TRACE, PLACE_NONE, .memory = MEMORY_PROGRAM, .since = 25},
	{"usdt", "U", WHEN_EVENT, OF_FILE, PLACE_USDT, .memory = MEMORY_PROGRAM},
	{"uprobe", "u", WHEN_EVENT, OF_FILE, PLACE_ENTRY, .memory = MEMORY_PROGRAM},
	{"uretprobe", "ur", WHEN_EVENT, OF_FILE, PLACE_RETURN, .memory = MEMORY_PROGRAM},
	{"watchpoint", "w", WHEN_EVENT, OF_PROCESS, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"asyncwatchpoint", "aw", WHEN_EVENT, OF_PROCESS, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"profile", "p", WHEN_TIMER, OF_MACHINE, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"software", "s", WHEN_COUNT, OF_MACHINE, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"hardware", "h", WHEN_COUNT, OF_MACHINE, PLACE_NONE, .memory = MEMORY_PROGRAM},
	{"kprobe", "k", WHEN_EVENT, OF_MACHINE, PLACE_ENTRY, .memory = MEMORY_KERNEL},
	{"kretprobe", "kr", WHEN_EVENT, OF_MACHINE, PLACE_RETURN, .memory = MEMORY_KERNEL},
	{"fentry", "f", WHEN_EVENT, OF_MACHINE, PLACE_ENTRY, .memory = MEMORY_KERNEL,
	 .is_typed = true, .since = 20, .before = "kfunc"},
	{"fexit", "fr", WHEN_EVENT, OF_MACHINE, PLACE_RETURN, .memory = MEMORY_KERNEL,
	 .is_typed = true, .since = 20, .before = "kretfunc"},
	{"kfunc", NULL, WHEN_EVENT, OF_MACHINE, PLACE_ENTRY, .memory = MEMORY_KERNEL,
	 .is_typed = true},
	{"kretfunc", NULL, WHEN_EVENT, OF_MACHINE, PLACE_RETURN, .memory = MEMORY_KERNEL,
	 .is_typed = true},
	{"tracepoint", "t", WHEN_EVENT, OF_MACHINE, PLACE_TRACEPOINT, .memory = MEMORY_KERNEL},
	{"rawtracepoint", "rt", WHEN_EVENT, OF_MACHINE, PLACE_OTHER, .memory = MEMORY_KERNEL},
	{"iter", "it", WHEN_ONCE, OF_MACHINE, PLACE_OTHER, .memory = MEMORY_KERNEL},
};

const struct provider *vocabulary_provider(struct str word)
{
	array_each(const struct provider, p, providers)
		if (str_eqz(word, p->name) || (p->short_name && str_eqz(word, p->short_name)))
			return p;
	return &no_provider;
}

const struct provider *vocabulary_function_probe(void)
{
	return vocabulary_provider(STR("uprobe"));
}

bool provider_is_function(const struct provider *p)
{
	return p->whose == OF_FILE && p->place != PLACE_USDT;
}

const char *vocabulary_nearest_provider(struct str wanted)
{
	unsigned best = UINT_MAX;
	const char *near = NULL;
	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
		if (str_is_nearer(wanted, str_from(providers[i].name), &best) ||
		    (providers[i].short_name &&
		     str_is_nearer(wanted, str_from(providers[i].short_name), &best)))
			near = providers[i].name;
	return near;
}

static bool has_number_after(struct str word, const char *prefix)
{
	return str_take(&word, str_from(prefix)) && str_is_digits(word);
}

/** What the one argument may be. */
#define STACK_MODES .modes = {"bpftrace", "perf", "raw", "build_id"}
#define CLOCKS .modes = {"boot", "monotonic", "tai", "sw_tai"}
#define NAMESPACES .modes = {"curr_ns", "init"}

/** What the arguments must be. */
#define TAKES(...) .wants = {__VA_ARGS__}

#define FORMATS .takes = TAKES_FORMAT, .effect = EFFECT_CHANGES
#define AGGREGATES .gives = GIVES_AGGREGATION, .effect = EFFECT_CHANGES
#define TOTALS AGGREGATES, .is_total = true
/** Of which nothing needs to be known, and which may do anything. */
#define OTHER .effect = EFFECT_CHANGES

static const struct word
    no_word = {.effect = EFFECT_CHANGES},
    words[] = {
	// Values without brackets; from 0.24 on most can have some.
	{"args", .is_bare = true},
	{"vars", .is_bare = true}, // not bpftrace's: bind/namedvar.h
	{"cgroup", .is_bare = true, .gives = GIVES_COUNT, .is_wide = true, .of_process = true},
	{"comm", .is_bare = true, .gives = GIVES_TEXT, .of_process = true},
	{"cpid", .is_bare = true, .gives = GIVES_COUNT},
	{"cpu", .is_bare = true, .gives = GIVES_COUNT},
	{"ctx", .is_bare = true},
	{"curtask", .is_bare = true, .is_wide = true, .of_process = true},
	{"default_str_length", .since = 25, .is_bare = true, .gives = GIVES_COUNT},
	{"elapsed", .is_bare = true, .effect = EFFECT_CLOCK, .gives = GIVES_COUNT, .is_wide = true},
	{"false", .since = 24, .is_bare = true, .gives = GIVES_TRUTH},
	{"func", .is_bare = true, .gives = GIVES_TEXT},
	{"gid", .is_bare = true, .gives = GIVES_COUNT, .of_process = true},
	{"has_cpid", .since = 25, .is_bare = true, .gives = GIVES_TRUTH},
	{"jiffies", .since = 20, .is_bare = true, .effect = EFFECT_CLOCK, .gives = GIVES_COUNT,
	 .is_wide = true},
	{"kstack", .is_bare = true, .gives = GIVES_SHOWN, STACK_MODES},
	{"leader_comm", .since = 26, .is_bare = true, .gives = GIVES_TEXT, .of_process = true},
	{"leader_tid", .since = 26, .is_bare = true, .gives = GIVES_COUNT, .of_process = true},
	{"ncpus", .since = 24, .is_bare = true, .gives = GIVES_COUNT},
	{"nsecs", .is_bare = true, .effect = EFFECT_CLOCK, .gives = GIVES_COUNT, .is_wide = true,
	 CLOCKS},
	{"numaid", .is_bare = true, .gives = GIVES_COUNT},
	{"pcomm", .since = 25, .is_bare = true, .gives = GIVES_TEXT, .of_process = true},
	{"pid", .is_bare = true, .gives = GIVES_COUNT, NAMESPACES, .of_process = true},
	{"ppid", .since = 24, .is_bare = true, .gives = GIVES_COUNT, .of_process = true},
	{"probe", .is_bare = true, .gives = GIVES_TEXT},
	{"probetype", .since = 25, .is_bare = true, .gives = GIVES_TEXT},
	{"rand", .is_bare = true, .effect = EFFECT_RANDOM, .gives = GIVES_COUNT},
	{"retval", .is_bare = true},
	{"tid", .is_bare = true, .gives = GIVES_COUNT, NAMESPACES, .of_process = true},
	{"true", .since = 24, .is_bare = true, .gives = GIVES_TRUTH},
	{"uid", .is_bare = true, .gives = GIVES_COUNT, .of_process = true},
	{"usermode", .since = 24, .is_bare = true, .gives = GIVES_COUNT},
	{"username", .is_bare = true, .gives = GIVES_TEXT, .of_process = true},
	{"ustack", .is_bare = true, .gives = GIVES_SHOWN, STACK_MODES, .of_process = true},
	// Functions of which anything is to be known
	{"avg", TOTALS, TAKES(WANTS_SAMPLE)},
	{"bswap", .gives = GIVES_NUMBER},
	{"buf", .effect = EFFECT_READS, .takes = TAKES_WHOLE, .gives = GIVES_BYTES,
	 TAKES(WANTS_BYTES), .shows = SHOWS_FIRST},
	{"cat", FORMATS, .prints = true, TAKES(WANTS_LITERAL)},
	{"cgroup_path", .gives = GIVES_SHOWN, TAKES(WANTS_ANY, WANTS_LITERAL)},
	{"cgroupid", .gives = GIVES_NUMBER, .is_wide = true, TAKES(WANTS_LITERAL)},
	{"clear", .effect = EFFECT_CHANGES, .does = USE_CLEAR},
	{"count", TOTALS},
	{"debugf", FORMATS, TAKES(WANTS_LITERAL)},
	{"delete", .effect = EFFECT_CHANGES, .does = USE_DELETE},
	{"enum_name", .takes = TAKES_TYPE, .gives = GIVES_TEXT, .shows = SHOWS_LAST}, // ours
	{"errorf", .since = 24, FORMATS, TAKES(WANTS_LITERAL)},
	{"exit", .effect = EFFECT_CHANGES},
	{"fail", .since = 25, FORMATS},
	{"find", .since = 25, .effect = EFFECT_CHANGES},
	{"getopt", .since = 24, .effect = EFFECT_CHANGES},
	{"has_key", .since = 22, .effect = EFFECT_READS, .gives = GIVES_TRUTH, .does = USE_READ},
	{"hist", AGGREGATES, TAKES(WANTS_SAMPLE, WANTS_CONSTANT)},
	{"is_err", .since = 26, .gives = GIVES_TRUTH},
	{"join", .effect = EFFECT_CHANGES, .prints = true, TAKES(WANTS_STRINGS, WANTS_LITERAL)},
	{"kaddr", .gives = GIVES_NUMBER, .is_wide = true, TAKES(WANTS_LITERAL)},
	{"kptr", .takes = TAKES_WHOLE, TAKES(WANTS_KERNEL)},
	{"ksym", .gives = GIVES_SHOWN, TAKES(WANTS_KERNEL), .shows = SHOWS_FIRST},
	{"len", .since = 20, .gives = GIVES_COUNT, .does = USE_READ},
	{"lhist", AGGREGATES, TAKES(WANTS_SAMPLE, WANTS_CONSTANT, WANTS_CONSTANT, WANTS_CONSTANT)},
	{"macaddr", .effect = EFFECT_READS, .takes = TAKES_WHOLE, .gives = GIVES_SHOWN,
	 TAKES(WANTS_BYTES)},
	{"max", TOTALS, TAKES(WANTS_SAMPLE)},
	{"memcmp", .since = 25, .effect = EFFECT_READS},
	{"min", TOTALS, TAKES(WANTS_SAMPLE)},
	{"ntop", .takes = TAKES_WHOLE, .gives = GIVES_SHOWN, .shows = SHOWS_LAST,
	 .modes = {"AF_INET", "AF_INET6"}, TAKES(WANTS_HOST, WANTS_HOST)},
	{"offsetof", .takes = TAKES_TYPE, .gives = GIVES_COUNT},
	{"override", .is_unsafe = true, .effect = EFFECT_CHANGES},
	{"path", .effect = EFFECT_READS, .gives = GIVES_TEXT},
	{"percpu_kaddr", .since = 22, TAKES(WANTS_LITERAL)},
	{"print", .effect = EFFECT_CHANGES, .prints = true, .does = USE_READ | USE_PRINT,
	 TAKES(WANTS_ANY, WANTS_CONSTANT, WANTS_CONSTANT)},
	{"printf", FORMATS, .prints = true, TAKES(WANTS_LITERAL)},
	{"reg", .gives = GIVES_NUMBER, TAKES(WANTS_LITERAL)},
	{"signal", .is_unsafe = true, .effect = EFFECT_CHANGES},
	{"signal_thread", .is_unsafe = true, .since = 25, .effect = EFFECT_CHANGES},
	{"sizeof", .takes = TAKES_TYPE, .gives = GIVES_COUNT},
	{"socket_cookie", .since = 24},
	{"stats", AGGREGATES, TAKES(WANTS_SAMPLE)},
	{"str", .effect = EFFECT_READS, .gives = GIVES_TEXT, TAKES(WANTS_STRING),
	 .shows = SHOWS_FIRST},
	{"strcap", .since = 25},
	{"strerror", .gives = GIVES_SHOWN},
	{"strftime", .takes = TAKES_TIME_FORMAT, .gives = GIVES_SHOWN, TAKES(WANTS_LITERAL),
	 .shows = SHOWS_LAST},
	{"strncmp", .gives = GIVES_NUMBER},
	{"strstr", .since = 25},
	{"sum", TOTALS, TAKES(WANTS_SAMPLE)},
	{"syscall_name", .since = 25, .gives = GIVES_TEXT},
	{"system", .is_unsafe = true, FORMATS, .prints = true, TAKES(WANTS_LITERAL)},
	{"time", .effect = EFFECT_CHANGES, .prints = true, .takes = TAKES_TIME_FORMAT,
	 TAKES(WANTS_LITERAL)},
	{"tseries", .since = 24, AGGREGATES, TAKES(WANTS_SAMPLE)},
	{"typeinfo", .since = 25, .takes = TAKES_TYPE},
	{"uaddr", .gives = GIVES_NUMBER, .is_wide = true, TAKES(WANTS_LITERAL)},
	{"uptr", .takes = TAKES_POINTER},
	{"usym", .gives = GIVES_SHOWN, TAKES(WANTS_CODE), .of_process = true, .shows = SHOWS_FIRST},
	{"warnf", .since = 25, FORMATS, TAKES(WANTS_LITERAL)},
	{"write_user", .is_unsafe = true, .since = 26, .effect = EFFECT_CHANGES},
	{"zero", .effect = EFFECT_CHANGES, .does = USE_ZERO},
	// Others
	{"assert", .since = 24, OTHER},
	{"assert_str", .since = 25, OTHER},
	{"assert_userspace_probe", .since = 25, OTHER},
	{"check_key", .since = 25, OTHER},
	{"config", .since = 27, OTHER},
	{"container_of", .since = 27, OTHER},
	{"dw_ustack", .since = 26, OTHER},
	{"elf_info", .since = 25, OTHER},
	{"elf_is_exe", .since = 25, OTHER},
	{"is_array", .since = 25, .gives = GIVES_TRUTH, OTHER},
	{"is_integer", .since = 25, .takes = TAKES_POINTER, .gives = GIVES_TRUTH, OTHER},
	{"is_literal", .since = 25, .gives = GIVES_TRUTH, OTHER},
	{"is_ptr", .since = 25, .takes = TAKES_POINTER, .gives = GIVES_TRUTH, OTHER},
	{"is_str", .since = 25, .gives = GIVES_TRUTH, OTHER},
	{"is_unsigned_integer", .since = 25, .takes = TAKES_POINTER, .gives = GIVES_TRUTH, OTHER},
	{"kfunc_allowed", .since = 25, .gives = GIVES_TRUTH, OTHER},
	{"kfunc_exist", .since = 25, .gives = GIVES_TRUTH, OTHER},
	{"memcmp_record", .since = 25, OTHER},
	{"pton", OTHER},
	{"signal_name", .since = 26, OTHER},
	{"skboutput", OTHER},
	{"static_assert", .since = 25, OTHER},
	{"str_concat", .since = 27, OTHER},
	{"strcontains", .effect = EFFECT_READS, .gives = GIVES_TRUTH},
	{"strlen", .since = 25, OTHER},
	{"unwatch", OTHER},
	{"usdt_arg", .since = 25, OTHER},
};

const struct word *vocabulary_word(struct str s)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eqz(s, words[i].name))
			return &words[i];
	return &no_word;
}

bool vocabulary_is_setting(struct str s, const char *name)
{
	static const char prefix[] = "BPFTRACE_";
	if (s.n >= strlen(prefix) && strncasecmp(s.p, prefix, strlen(prefix)) == 0)
		s = str_from_offset(s, strlen(prefix));
	return s.n == strlen(name) && strncasecmp(s.p, name, s.n) == 0;
}

unsigned vocabulary_setting(struct str s)
{
	static const char *const since[][14] = {
	    [20] = {"cache_user_symbols", "cpp_demangle", "log_size", "max_bpf_progs",
		    "max_cat_bytes", "max_map_keys", "max_probes", "max_strlen", "perf_rb_pages",
		    "stack_mode", "str_trunc_trailer"},
	    [21] = {"lazy_symbolication", "missing_probes"},
	    [22] = {"on_stack_limit", "print_maps_on_exit"},
	    [23] = {"use_blazesym"},
	    [24] = {"license", "show_debug_info", "unstable_addr", "unstable_import",
		    "unstable_macro", "unstable_map_decl", "unstable_tseries"},
	    [25] = {"unstable_typeinfo"},
	    [26] = {"unstable_dw_ustack"},
	};
	for (unsigned v = 0; v < sizeof(since) / sizeof(since[0]); v++)
		for (const char *const *name = since[v]; *name; name++)
			if (vocabulary_is_setting(s, *name))
				return v;
	return 0;
}

const char *vocabulary_nearest(struct str wanted)
{
	enum { N_WORDS = sizeof(words) / sizeof(words[0]) };
	unsigned best = UINT_MAX;
	const char *near = NULL;
	// Of those that are as near one of the same length: prinft is printf, not print.
	for (size_t i = 0; i < (size_t)2 * N_WORDS; i++) {
		struct str word = str_from(words[i % N_WORDS].name);
		if ((i >= N_WORDS || word.n == wanted.n) && str_is_nearer(wanted, word, &best))
			near = word.p;
	}
	return near;
}

bool vocabulary_is_builtin(struct str s)
{
	return vocabulary_word(s)->is_bare || str_has_prefix(s, STR("__builtin_")) ||
	       has_number_after(s, "arg") || vocabulary_is_stack_arg(s);
}

bool vocabulary_is_stack_arg(struct str s)
{
	return has_number_after(s, "sarg");
}

static const struct type_word types[] = {
    {{"int8", "s8", "int8_t", "char"}, 1, true, true},
    {{"int16", "s16", "int16_t", "short"}, 2, true, true},
    {{"int32", "s32", "int32_t", "int", "signed"}, 4, true, true},
    {{"int64", "s64", "int64_t", "long", "intptr_t"}, 8, true, true},
    {{"uint8", "u8", "uint8_t", "bool", "_Bool"}, 1, false, true},
    {{"uint16", "u16", "uint16_t"}, 2, false, true},
    {{"uint32", "u32", "uint32_t", "unsigned"}, 4, false, true},
    {{"uint64", "u64", "uint64_t", "size_t", "uintptr_t"}, 8, false, true},
    {{"void", "float", "double", "string", "const", "volatile"}, 0, false, true},
    {{"stack", "usym", "ksym"}, 0, false, false},
};

const struct type_word *vocabulary_type(struct str s)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (str_is_any(s, types[i].names))
			return &types[i];
	return NULL;
}

bool vocabulary_is_type_word(struct str s)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	const struct type_word *t = vocabulary_type(s);
	return (t && t->is_reserved) || str_is_any(s, tags);
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
