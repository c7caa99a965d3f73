#include "dialect/dialect.h"

#include <sys/utsname.h>

bool dialect_parse(struct str text, unsigned *ret)
{
	text = str_trim(text);
	if (str_take(&text, STR("bpftrace ")))
		text = str_trim(text);
	str_take(&text, STR("v"));
	unsigned part[2] = {0, 0};
	for (int i = 0; i < 2; i++) {
		size_t n = 0;
		while (n < text.n && n < 4 && text.p[n] >= '0' && text.p[n] <= '9')
			part[i] = part[i] * 10 + (unsigned)(text.p[n++] - '0');
		if (n == 0)
			return false;
		text = str_from_offset(text, n);
		if (i == 0 && !str_take(&text, STR(".")))
			return false;
	}
	*ret = part[0] * 1000 + part[1];
	return true;
}

bool dialect_kernel_has_links(void)
{
	struct utsname name;
	unsigned kernel;
	return uname(&name) == 0 && dialect_parse(str_from(name.release), &kernel) &&
	       kernel >= 6006;
}

const struct dialect_defect dialect_defects[] = {
    {0, 18, "reports too few lost events, and prints lines out of order by some milliseconds",
     "install 0.19 or newer"},
    {20, 21, "prints wrong numbers of min() and max() in programs of -n",
     "install 0.21.2 or newer"},
    {22, 23, "is killed when it prints avg() or stats() after zero()",
     "use clear(), or install 0.24 or newer"},
    {20, 23, "can miss the first event of a key that it counts", "install 0.24 or newer"},
    {24, UINT_MAX,
     "cannot attach to a probe that has a semaphore, and a float or a variable at a fixed address "
     "among its arguments",
     "use 0.23 for these"},
    {0},
};

unsigned dialect_oldest_kernel(unsigned v)
{
	return v >= 24 ? 5015 : 4009;
}

unsigned dialect_max_usdt(unsigned v)
{
	return dialect_has_libbpf_usdt(v) ? 256 : UINT_MAX;
}

unsigned dialect_max_programs(unsigned v)
{
	return v < 23 ? 512 : 1024;
}

/** Without quotes; a backslash at the end would make the blank after it part of the name. */
static bool is_bare_name(struct str name)
{
	return str_is_made_of(name, ALPHABET_PROBE_NAME) && name.p[name.n - 1] != '\\';
}

/*
 * Each printable ASCII character was measured with 0.17.0, 0.23.2 and 0.27.1, in the provider and in
 * the name, at the start, in the middle and at the end (tests/live/names-attach.t), and printable
 * UTF-8. In quotes all of it can be written, except for
 *
 *	*	in every version: it is a wildcard between quotes, too, which 0.23 does not even load
 *	:	in a provider: 0.17 does not find it, 0.23 and 0.27 do not with -p
 *	\	before 0.27: one is dropped, two stay two; without quotes it is itself but at the end
 *
 * Without quotes 0.17 and 0.23 take only - . + / # \ besides letters, digits and _; 0.27 all but a
 * blank and " $ , : @ {. What versions between the measured ones can is what those on both sides can.
 */
static bool can_spell(unsigned v, struct str name)
{
	struct strbuf shown = {0};
	strbuf_add_printable(&shown, name);
	// A program is shown on terminals, and its lines are its own.
	bool good = name.n && str_eq(name, strbuf_str(&shown)) && str_find(name, '*') == name.n &&
		    (v >= 27 || str_find(name, '\\') == name.n || is_bare_name(name));
	strbuf_fini(&shown);
	return good;
}

bool dialect_can_name(unsigned v, struct str provider, struct str name)
{
	return can_spell(v, provider) && can_spell(v, name) &&
	       str_find(provider, ':') == provider.n;
}

struct safe_word dialect_spell_name(struct arena *a, struct str name)
{
	struct safe_word bare;
	return is_bare_name(name) && word_take(name, ALPHABET_PROBE_NAME, &bare)
		   ? bare
		   : word_quote(a, name);
}

unsigned dialect_max_arg(unsigned v)
{
	return dialect_has_libbpf_usdt(v) ? 11 : 5;
}

/** So many more strings than those that are printed are on the stack: what is read; 0.21 copies it, too. */
static unsigned more_strings(unsigned v)
{
	return v == 21 ? 3 : 1;
}

unsigned dialect_max_strlen(unsigned v, unsigned strings)
{
	if (v >= 23)
		return 1024;
	// The strings of one printf() share the 512 bytes of a BPF program's stack with all else.
	// Measured with 0.17: 2 of 160, 3 of 120 and 4 of 88 fit when nothing else is printed, 2 of
	// 150 and 3 of 112 with some more; with 0.21, 1 of 120, 2 of 96 and 4 of 72. Below its own
	// default of 64 it would only lose text.
	unsigned n = strings > 1 ? 300 / strings : 200;
	if (v == 21)
		n = 440 / (strings + more_strings(v));
	return n < 64 ? 64 : n;
}

unsigned dialect_printed_strlen(unsigned v, unsigned strings, unsigned bytes)
{
	// What is printed, and the string that is being read; each is rounded up to 8.
	enum { ROOM = 456, LEAST = 32, MOST = 200 };
	unsigned n = bytes < ROOM ? (ROOM - bytes) / (strings + more_strings(v)) / 8 * 8 : LEAST;
	return v >= 23 ? 1024 : n < LEAST ? LEAST : n < MOST ? n : MOST;
}

unsigned dialect_max_literal(unsigned v)
{
	return v >= 23 ? 1023 : 63;
}

unsigned dialect_printed_numbers(unsigned v, unsigned strings, unsigned others)
{
	// 127 arguments; or a stack, on which a string of DIALECT_SHORT bytes is being read, too.
	bool is_on_stack = dialect_prints_from_stack(v);
	unsigned most = !is_on_stack ? 127
			: v == 21    ? 60
				     : 48,
		 of_string = is_on_stack ? 1 + DIALECT_SHORT / 8 : 2;
	unsigned copies = is_on_stack && strings ? more_strings(v) - 1 : 0;
	unsigned taken = others + strings * of_string + 1 + copies * DIALECT_SHORT / 8;
	return taken < most ? most - taken : 0;
}

unsigned dialect_strlen_ceiling(unsigned v, unsigned strings)
{
	return v >= 23 ? 16384 : dialect_max_strlen(v, strings);
}

unsigned dialect_buffer_pages(unsigned v, unsigned cpus)
{
	// From 0.24 it goes by the machine's memory: anything here would be less. From 0.19 there is
	// one buffer of 64 pages for all processors: a burst of 3000 events needs 4096. Before, each
	// has its own of 64, where 20,000 were lost at times and 256 held 100,000: four times that,
	// unless all of them are more than 64 MiB.
	enum { OWN_PAGES = 64, MOST_IN_ALL = 16384 };
	bool is_own = dialect_reads_by_processor(v);
	unsigned pages = is_own ? 1024 : 4096;
	if (v >= 24)
		return 0;
	while (is_own && pages > OWN_PAGES && cpus > MOST_IN_ALL / pages)
		pages /= 2;
	return pages;
}

const char *dialect_strlen_variable(unsigned v)
{
	return v >= 20 ? "BPFTRACE_MAX_STRLEN" : "BPFTRACE_STRLEN";
}

const char *dialect_map_keys_variable(unsigned v)
{
	return v >= 20 ? "BPFTRACE_MAX_MAP_KEYS" : "BPFTRACE_MAP_KEYS_MAX";
}

unsigned dialect_max_table(unsigned v)
{
	return v >= 23 ? 1000 : 300;
}
