#include "bind/chainread.h"

#include <inttypes.h>

#include "bind/typeuse.h"

/** An array of char, or of any bytes when @bytes. */
static bool is_char_array(struct ctype *t, bool bytes, uint64_t *n)
{
	t = ctype_strip(t);
	if (!t || t->kind != CTYPE_ARRAY || !t->has_count)
		return false;
	struct ctype *of = ctype_strip(t->of);
	*n = t->count;
	return of && of->kind == CTYPE_INT && of->size == 1 && (of->is_char || bytes);
}

/** Functions that want the array itself. */
static bool wants_array(const struct token *function)
{
	static const char *const names[] = {"buf", "sizeof", "ntop", "macaddr", "kptr", "uptr"};
	for (size_t i = 0; function && i < sizeof(names) / sizeof(names[0]); i++)
		if (tok_is(function, names[i]))
			return true;
	return false;
}

/**
 * A char array as a string of its whole length. From 0.22 on str(p, N) delivers N-1 characters; before, N.
 * @function and @paren are the two tokens before the chain.
 */
static struct str read_string(struct bind *b, const struct chain *c, uint64_t n,
			      const struct token *function, const struct token *paren)
{
	struct arena *a = b->arena;
	uint64_t length = b->version >= 22 ? n + 1 : n;
	bool in_str = tok_is(paren, "(") && function && tok_is(function, "str");
	if (n > b->longest_string)
		b->longest_string = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
	if (in_str && !tok_is(c->last->next, ")")) // str(p->name, 8)
		return chain_address(b->arena, c);
	return str_from(
	    arena_printf(a, in_str ? STR_FMT ", %" PRIu64 : "str(" STR_FMT ", %" PRIu64 ")",
			 STR_ARG(chain_address(b->arena, c)), length));
}

static struct str read_number(struct bind *b, const struct chain *c, const struct ctype *t,
			      struct str value)
{
	struct arena *a = b->arena;
	uint64_t sign = (uint64_t)1 << (c->bit_size ? c->bit_size - 1 : 0);
	if (c->bit_size && t->is_signed && b->version >= 24) {
		return str_from(arena_printf(a,
					     "(((int64)(" STR_FMT ") ^ %" PRIu64 ") - %" PRIu64 ")",
					     STR_ARG(value), sign, sign));
	}
	if (c->bit_size && t->is_signed) {
		return str_from(arena_printf(
		    a, "(int64)(((uint64)(" STR_FMT ") ^ %" PRIu64 ") - (uint64)%" PRIu64 ")",
		    STR_ARG(value), sign, sign));
	}
	if (t->is_signed && t->size < 8)
		return str_from(arena_printf(a, "(int64)(int%u)" STR_FMT, (unsigned)t->size * 8,
					     STR_ARG(value)));
	return value;
}

/** An unsigned bitfield out of memory; an empty text for one that lies in nine bytes. */
static struct str read_bits(struct arena *a, const struct chain *c)
{
	struct str at = chain_address(a, c);
	unsigned n_bytes = (c->bit_shift + c->bit_size + 7) / 8;
	if (n_bytes > 8)
		return STR("");
	struct strbuf text;
	strbuf_init(&text);
	strbuf_addz(&text, "(((");
	if (c->bit_bytes)
		strbuf_addf(&text, "(uint64)*(uint%u *)(" STR_FMT ")", c->bit_bytes * 8,
			    STR_ARG(at));
	for (unsigned i = 0; !c->bit_bytes && i < n_bytes; i++)
		strbuf_addf(&text, "%s((uint64)*(uint8 *)(" STR_FMT " + %u) << %u)", i ? " | " : "",
			    STR_ARG(at), i, i * 8);
	strbuf_addf(&text, ") >> %u) & 0x%" PRIx64 ")", c->bit_shift,
		    UINT64_MAX >> (64 - c->bit_size));
	struct str s = str_copy(a, strbuf_str(&text));
	strbuf_fini(&text);
	return s;
}

/** What cannot be read at all is said; bpftrace would say it in other words, or not. */
static struct str read_far_bits(struct bind *b, const struct chain *c, const struct ctype *t)
{
	struct str value = c->bit_size <= 64 ? read_bits(b->arena, c) : STR("");
	if (value.n)
		return t->is_signed ? read_number(b, c, t, value) : value;
	struct diag_place at = tok_place(c->last);
	diag_error(b->diag, &at,
		   "this bitfield lies in nine bytes, behind an index that is no constant: "
		   "read it with a constant one");
	return value;
}

struct str chain_read(struct bind *b, const struct chain *c, const struct token *function,
		      const struct token *paren)
{
	struct arena *a = b->arena;
	uint64_t n;
	struct ctype *t = ctype_strip(c->type);
	if (!t || (tok_is(paren, "(") && function && tok_is(function, "sizeof")))
		return STR(""); // a cast has another size
	bool in_str = tok_is(paren, "(") && function && tok_is(function, "str");
	if (is_char_array(t, in_str, &n)) {
		if (n == 0 || c->is_value || (tok_is(paren, "(") && wants_array(function)))
			return STR("");
		return read_string(b, c, n, function, paren);
	}
	bool number = t->kind == CTYPE_INT || t->kind == CTYPE_ENUM || t->kind == CTYPE_BOOL;
	if (c->by_address && c->bit_size && number)
		return read_far_bits(b, c, t);
	if (c->by_address && !c->bit_size && (number || t->kind == CTYPE_POINTER) &&
	    (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8)) {
		const char *value =
		    arena_printf(a, "*(uint%u *)(" STR_FMT ")", (unsigned)t->size * 8,
				 STR_ARG(chain_address(b->arena, c)));
		struct str name = chain_pointee(t) && ctype_is_aggregate(chain_pointee(t))
				      ? typeuse_pointer_text(a, t)
				      : STR("");
		if (name.n) // its value may be kept and followed
			return str_from(arena_printf(a, "(" STR_FMT ")(%s)", STR_ARG(name), value));
		return read_number(b, c, t, str_from(value));
	}
	if (!number || !t->is_signed || (!c->bit_size && t->size >= 8))
		return STR("");
	return read_number(b, c, t, chain_text(b->arena, c));
}
