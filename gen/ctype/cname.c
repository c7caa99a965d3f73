#include "ctype/cname.h"

#include "base/map.h"

// C11 6.4.1, GNU's own, and the macros that gcc and clang predefine without underscores.
static const char c_words[] =
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|"
    "inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|"
    "typedef|union|unsigned|void|volatile|while|asm|typeof|linux|unix|i386|_Bool|_Complex|"
    "_Atomic|_Alignas|_Alignof|_Generic|_Noreturn|_Static_assert|_Thread_local|_Imaginary|"
    "NULL|EOF";

// Names of types and statements in the lexers of bpftrace 0.17 to 0.27.
static const char bpftrace_words[] =
    "unroll|bool|string|inet|buffer|username|timestamp|offsetof|int8|int16|int32|int64|uint8|"
    "uint16|uint32|uint64|min_t|max_t|sum_t|avg_t|umin_t|umax_t|usum_t|uavg_t|stats_t|"
    "ustats_t|count_t|usym_t|ksym_t|kstack_t|ustack_t|macaddr_t|mac_address|cgroup_path_t|"
    "strerror_t|true|false";

static bool is_word_of(struct str name, const char *words)
{
	for (struct str rest = str_from(words); rest.n;)
		if (str_eq(str_take_until(&rest, '|'), name))
			return true;
	return false;
}

/** What cprint calls the gaps between members. */
static bool is_gap(struct str name)
{
	return str_take(&name, STR("_gap")) && str_is_digits(name);
}

struct str cname_ident(struct arena *a, struct str name, bool for_bpftrace)
{
	if (!name.n)
		return name;
	if (!str_is_ident(name)) {
		struct strbuf b = {0};
		if (name.p[0] >= '0' && name.p[0] <= '9')
			strbuf_addc(&b, '_');
		for (size_t i = 0; i < name.n; i++) {
			bool good = str_is_made_of(str_slice(name, i, 1), ALPHABET_WORD);
			if (name.p[i] != ' ')
				strbuf_addc(&b, good ? name.p[i] : '_');
		}
		name = strbuf_take(&b, a);
	}
	if (is_gap(name) || is_word_of(name, c_words) ||
	    (for_bpftrace && is_word_of(name, bpftrace_words)))
		name = str_printf(a, STR_FMT "_", STR_ARG(name));
	return name;
}

struct str *cname_members(struct arena *a, const struct ctype *t, bool for_bpftrace)
{
	struct str *names = arena_array(a, struct str, t->n_members);
	bool *settled = arena_array(a, bool, t->n_members);
	struct map used = {0};
	// Who keeps its own spelling comes first; respelled names make room.
	for (size_t i = 0; i < t->n_members; i++) {
		const struct ctype *of = ctype_strip(t->members[i].type);
		names[i] = cname_ident(a, t->members[i].name, for_bpftrace);
		if (!names[i].n && of && !ctype_is_aggregate(of)) // C has no such member
			names[i] = STR("unnamed");
		bool same = str_eq(names[i], t->members[i].name);
		settled[i] = !names[i].n || (same && map_add(a, &used, names[i]));
	}
	struct map counts = {0};
	for (size_t i = 0; i < t->n_members; i++) {
		if (settled[i] || map_add(a, &used, names[i]))
			continue;
		struct str first = names[i];
		uint32_t *n = map_get(&counts, first);
		if (!n) {
			n = arena_new(a, uint32_t);
			*n = 1;
			map_put(a, &counts, first, n);
		}
		do
			names[i] = str_printf(a, STR_FMT "_%u", STR_ARG(first), ++*n);
		while (!map_add(a, &used, names[i]));
	}
	return names;
}
