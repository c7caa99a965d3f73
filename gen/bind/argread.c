#include "bind/argread.h"

#include <elf.h>

#include "bind/attach.h"
#include "bind/namedarg.h"
#include "elf/imgsym.h"
#include "dialect/dialect.h"

const char *argread_register(struct arena *a, unsigned machine, unsigned number)
{
	// psABI of x86-64, figure 3.36; DWARF for the Arm 64-bit Architecture, section 4.1
	static const char *const x86[] = {"ax", "dx", "cx",  "bx",  "si",  "di",  "bp",	 "sp",
					  "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
	if (machine == EM_X86_64)
		return number < 16 ? x86[number] : NULL;
	if (machine != EM_AARCH64 || number > 31)
		return NULL;
	return number == 31 ? "sp" : arena_printf(a, "r%u", number);
}

static const char *counter_of(unsigned machine)
{
	return machine == EM_AARCH64 ? "pc" : "ip";
}

struct search {
	struct str name;
	uint64_t addr;
	bool no_local, is_found, is_ambiguous;
};

static bool try_symbol(void *ctx, const struct img_symbol *sym)
{
	struct search *s = ctx;
	if (!str_eq(sym->name, s->name) || (s->no_local && sym->is_local))
		return true;
	s->is_ambiguous |= s->is_found && sym->addr != s->addr;
	s->is_found = true;
	s->addr = sym->addr;
	return !s->is_ambiguous;
}

bool argread_find_symbol(struct img *img, struct str symbol, bool no_local, uint64_t *ret)
{
	struct search s = {.name = symbol, .no_local = no_local};
	img_walk(img, IMG_VARIABLES, try_symbol, &s);
	*ret = s.addr;
	return s.is_found && !s.is_ambiguous;
}

static bool add_step(struct arena *a, struct locexpr *e, enum locexpr_op op, int64_t n)
{
	vec_push(a, &e->steps, (struct locexpr_step){op, n});
	return true;
}

/** With @parts a part of one, too: "r13" is read of r13d. False for ah, and for what holds no whole numbers. */
static bool add_register(struct arena *a, unsigned machine, struct str name, bool parts,
			 struct locexpr *e)
{
	int n = sdtarg_register(machine, name);
	if (n < 0 || !argread_register(a, machine, (unsigned)n))
		return false;
	bool is_whole = machine == EM_X86_64
			    ? name.p[0] == 'r' && !strchr("dwb", name.p[name.n - 1])
			    : name.p[0] != 'w';
	return (is_whole || parts) && add_step(a, e, LOCEXPR_REGISTER, n);
}

/** An operand as a location; false where that is counted from nothing that can be read. */
static bool locate(struct arena *a, struct img *img, const struct sdtarg *arg, struct locexpr *ret)
{
	uint64_t addr;
	*ret = (struct locexpr){.is_place = arg->kind == SDTARG_MEM};
	if (arg->kind == SDTARG_CONST)
		return add_step(a, ret, LOCEXPR_NUMBER, arg->value);
	if (arg->kind == SDTARG_REG)
		return add_register(a, img->machine, arg->base, true, ret);
	if (arg->kind != SDTARG_MEM && arg->kind != SDTARG_ADDR)
		return false;
	if (arg->symbol.n) {
		if (arg->base.n || arg->index.n ||
		    !argread_find_symbol(img, arg->symbol, false, &addr))
			return false;
		add_step(a, ret, LOCEXPR_ADDRESS, (int64_t)addr);
	} else if (!add_register(a, img->machine, arg->base, false, ret)) {
		return false;
	}
	if (arg->index.n) {
		bool is_narrow = arg->index.p[0] == 'w'; // of aarch64
		if (!add_register(a, img->machine, arg->index, is_narrow, ret))
			return false;
		if (is_narrow)
			add_step(a, ret, arg->index_signed ? LOCEXPR_SIGNED : LOCEXPR_UNSIGNED, 32);
		if (arg->scale > 1) {
			add_step(a, ret, LOCEXPR_NUMBER, arg->scale);
			add_step(a, ret, LOCEXPR_MUL, 0);
		}
		add_step(a, ret, LOCEXPR_ADD, 0);
	}
	return !arg->disp ||
	       (add_step(a, ret, LOCEXPR_NUMBER, arg->disp) && add_step(a, ret, LOCEXPR_ADD, 0));
}

/**
 * The value of @arg with its sign, as an operand that a cast may stand before; empty when no
 * expression reads it.
 */
static struct str text_of(struct arena *a, struct img *img, uint64_t pc, const struct sdtarg *arg)
{
	struct locexpr e;
	const char *sign = arg->is_signed ? "" : "u";
	if (!ctype_is_word(arg->size) || arg->is_float || !locate(a, img, arg, &e))
		return STR("");
	const char *narrow =
	    arg->size == 8 ? "" : arena_printf(a, "(%sint%u)", sign, arg->size * 8);
	return str_printf(a, "(%sint64)%s" STR_FMT, sign, narrow,
			  STR_ARG(argread_location(a, img, pc, &e, arg->size)));
}

bool argread_join(struct arena *a, struct img *img, uint64_t pc, const struct sdtarg *arg,
		  struct str *text)
{
	struct str before = *text;
	*text = text_of(a, img, pc, arg);
	return text->n && (!before.n || str_eq(before, *text));
}

bool argread_needs(unsigned version, unsigned n, const struct sdtarg *arg)
{
	return !dialect_has_libbpf_usdt(version) &&
	       (n > dialect_max_arg(version) || arg->bcc_misreads);
}

struct str argread_find(const struct bind *b, const struct attach_clause *c, unsigned n,
			struct str *place)
{
	struct str text = STR("");
	bool is_needed = false, is_one = true;
	*place = STR("");
	for (size_t i = 0; i < c->probes.n; i++)
		is_needed |= attach_is_by_address(b, &c->probes.v[i]);
	if (c->has_other || c->has_uprobe ||
	    (dialect_has_libbpf_usdt(b->given->version) && !is_needed))
		return text;
	for (size_t i = 0; i < c->probes.n && is_one; i++) {
		const struct attach_match *m = &c->probes.v[i];
		struct img *img = m->file->bin.img;
		for (size_t k = 0; k < m->probe->n_sites && is_one; k++) {
			const struct sdt_site *site = &m->probe->sites[k];
			const struct operands *o = namedarg_operands(b, m, site);
			if (n >= o->n)
				return STR("");
			*place = o->v[n].text;
			is_needed |= argread_needs(b->given->version, n, &o->v[n]);
			is_one = argread_join(b->arena, img, site->pc, &o->v[n], &text);
		}
	}
	return is_needed && is_one ? text : STR("");
}

// --- locations of variables ---

/** A sum of which one part is a number. */
struct operand {
	struct str text; // empty: only the number
	uint64_t off;
	bool needs_no_parens;
};

static struct str sum_of(struct arena *a, const struct operand *o)
{
	bool is_below = (int64_t)o->off < 0;
	if (!o->text.n)
		return str_printf(a, "%" PRId64, (int64_t)o->off);
	if (!o->off)
		return o->text;
	return str_printf(a, STR_FMT " %c %" PRIu64, STR_ARG(o->text), is_below ? '-' : '+',
			  is_below ? -o->off : o->off);
}

static struct str tight_of(struct arena *a, const struct operand *o)
{
	bool needs_no_parens = o->text.n ? o->needs_no_parens && !o->off : (int64_t)o->off >= 0;
	return str_printf(a, needs_no_parens ? STR_FMT : "(" STR_FMT ")", STR_ARG(sum_of(a, o)));
}

/** A place of the file; that of a program that can lie anywhere is counted from where the probe is. */
static struct operand place_of(struct arena *a, const struct img *img, uint64_t pc, uint64_t addr)
{
	if (img->type == ET_EXEC)
		return (struct operand){.off = addr};
	return (struct operand){.text = str_printf(a, "reg(\"%s\")", counter_of(img->machine)),
				.off = addr - pc,
				.needs_no_parens = true};
}

static struct operand join(struct arena *a, enum locexpr_op op, const struct operand *x,
			   const struct operand *y)
{
	static const char *const signs[] = {
	    [LOCEXPR_ADD] = "+", [LOCEXPR_SUB] = "-", [LOCEXPR_MUL] = "*",  [LOCEXPR_AND] = "&",
	    [LOCEXPR_OR] = "|",	 [LOCEXPR_XOR] = "^", [LOCEXPR_SHL] = "<<", [LOCEXPR_SHR] = ">>"};
	if (op == LOCEXPR_ADD && (!y->text.n || !x->text.n))
		return (struct operand){.text = x->text.n ? x->text : y->text,
					.off = x->off + y->off,
					.needs_no_parens =
					    x->text.n ? x->needs_no_parens : y->needs_no_parens};
	if (op == LOCEXPR_SUB && !y->text.n)
		return (struct operand){
		    .text = x->text, .off = x->off - y->off, .needs_no_parens = x->needs_no_parens};
	return (struct operand){.text = str_printf(a, "(" STR_FMT " %s " STR_FMT ")",
						   STR_ARG(tight_of(a, x)), signs[op],
						   STR_ARG(tight_of(a, y))),
				.needs_no_parens = true};
}

static struct operand apply(struct arena *a, const struct locexpr_step *s, const struct operand *x)
{
	bool is_signed = s->op == LOCEXPR_SIGNED;
	struct str text;
	if (s->op == LOCEXPR_READ)
		text = str_printf(a, "(uint64)*(uint%u *)(" STR_FMT ")", (unsigned)s->n * 8,
				  STR_ARG(sum_of(a, x)));
	else if (s->op == LOCEXPR_NOT)
		text = str_printf(a, "~(uint64)" STR_FMT, STR_ARG(tight_of(a, x)));
	else if (s->n == 64)
		return *x;
	else
		text = str_printf(a, "(%sint64)(%sint%u)" STR_FMT, is_signed ? "" : "u",
				  is_signed ? "" : "u", (unsigned)s->n, STR_ARG(tight_of(a, x)));
	return (struct operand){.text = text};
}

/** What @e, which locexpr_read() took, is at @pc. */
static struct operand operand_of(struct arena *a, const struct img *img, uint64_t pc,
				 const struct locexpr *e)
{
	struct operand stack[16] = {0};
	size_t n = 0;
	vec_each(const struct locexpr_step, step, &e->steps) {
		switch (step->op) {
		case LOCEXPR_NUMBER:
			stack[n++] = (struct operand){.off = (uint64_t)step->n};
			break;
		case LOCEXPR_REGISTER:
			stack[n++] = (struct operand){
			    .text =
				str_printf(a, "reg(\"%s\")",
					   argread_register(a, img->machine, (unsigned)step->n)),
			    .needs_no_parens = true};
			break;
		case LOCEXPR_ADDRESS:
			stack[n++] = place_of(a, img, pc, (uint64_t)step->n);
			break;
		case LOCEXPR_READ:
		case LOCEXPR_UNSIGNED:
		case LOCEXPR_SIGNED:
		case LOCEXPR_NOT:
			stack[n - 1] = apply(a, step, &stack[n - 1]);
			break;
		default:
			n--;
			stack[n - 1] = join(a, step->op, &stack[n - 1], &stack[n]);
		}
	}
	return stack[0];
}

struct str argread_location(struct arena *a, const struct img *img, uint64_t pc,
			    const struct locexpr *e, unsigned size)
{
	struct operand o = operand_of(a, img, pc, e);
	if (!e->is_place)
		return tight_of(a, &o);
	return size ? str_printf(a, "*(uint%u *)(" STR_FMT ")", size * 8, STR_ARG(sum_of(a, &o)))
		    : sum_of(a, &o);
}

struct str argread_choose(struct arena *a, unsigned machine, const struct str *texts,
			  const uint64_t *pcs, size_t n)
{
	enum { PAGE = 4096, MOST = 16 };
	struct str all = {0}, two = texts[0];
	size_t n_texts = 0;
	for (size_t i = 0; i < n; i++) {
		struct str at = {0};
		bool is_known = false;
		for (size_t k = 0; k < n && !is_known; k++) {
			bool is_same = str_eq(texts[k], texts[i]);
			is_known = is_same && k < i;
			if (!is_same && pcs[k] % PAGE == pcs[i] % PAGE)
				return STR("");
			if (is_same)
				at =
				    str_printf(a, STR_FMT "%s(reg(\"%s\") & %d) == %d", STR_ARG(at),
					       at.n ? " || " : "", counter_of(machine), PAGE - 1,
					       (int)(pcs[k] % PAGE));
		}
		if (is_known)
			continue;
		if (n_texts++ == MOST)
			return STR("");
		if (n_texts == 2)
			two = str_printf(
			    a, "(" STR_FMT " ? (uint64)" STR_FMT " : (uint64)" STR_FMT ")",
			    STR_ARG(at), STR_ARG(texts[i]), STR_ARG(texts[0]));
		all = str_printf(a, STR_FMT "%s(" STR_FMT " ? (uint64)" STR_FMT " : (uint64)0)",
				 STR_ARG(all), n_texts > 1 ? " + " : "", STR_ARG(at),
				 STR_ARG(texts[i]));
	}
	// A choice in a choice ends bpftrace 0.23 by a signal.
	return n_texts > 2 ? str_printf(a, "(" STR_FMT ")", STR_ARG(all)) : two;
}
