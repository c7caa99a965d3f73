/**
 * An argN that is one thing at one probe of a clause and another at the next: of a pattern's
 * probes, or of the sites of one probe. As a plain number it can be printed, or be a key; where it
 * is read as a string, as a number, or through a pointer, it is wrong for some of the events.
 */
#include "check/check_priv.h"

#include "bind/namedarg.h"
#include "lang/format.h"

enum class {
	CLASS_UNKNOWN,
	CLASS_NUMBER, /**< an enum is one, too */
	CLASS_STRING,
	CLASS_POINTER,
	CLASS_FLOATING,
};

static enum class class_of(const struct probearg *arg) {
	struct meaning m = {.type = arg->type, .plain = ctype_strip(arg->type)};
	if (arg->is_float || (arg->type && check_is_floating(&m))) return CLASS_FLOATING;
	if (!m.plain) return CLASS_UNKNOWN;
	if (ctype_is_text(m.plain)) return CLASS_STRING;
	if (m.plain->kind == CTYPE_POINTER) return ctype_strip(m.plain->of)
	    ? CLASS_POINTER
	    : CLASS_UNKNOWN; // void * may be any
	return ctype_is_number(m.plain) && !check_is_address_word(m.type) ? CLASS_NUMBER
									  : CLASS_UNKNOWN;
}

/** The enum of two that are not one. */
static bool is_other_enum(struct ctype *a, struct ctype *b)
{
	struct ctype *one = ctype_strip(a), *two = ctype_strip(b);
	return one && two && one->kind == CTYPE_ENUM && two->kind == CTYPE_ENUM && one->name.n &&
	       two->name.n && !str_eq(one->name, two->name);
}

/** An argument at a site. */
struct seen {
	const struct sdt_probe *probe;
	const struct probesite *site;
	const struct probearg *arg;
};

/**
 * Is argument @n one thing at all sites of the clause's probes? @ret: two of them at which it is
 * not. @is_enum: two enums are two things.
 */
static bool finds_two(struct checker *k, unsigned n, bool is_enum, struct seen ret[2])
{
	const struct attach_clause *c = k->clause;
	struct seen first = {0};
	vec_each(const struct attach_match, m, &c->probes) {
		const struct probeargs *pa =
		    namedarg_at(k->b, m, n) ? map_get_ptr(&k->b->cache->probeargs, m->probe) : NULL;
		for (size_t s = 0; pa && s < pa->n_sites; s++) {
			if (n >= pa->sites[s].n_args)
				continue;
			struct seen now = {m->probe, &pa->sites[s], &pa->sites[s].args[n]};
			enum class class = class_of(now.arg);
			if (class == CLASS_UNKNOWN)
				continue;
			if (first.arg &&
			    (class != class_of(first.arg) ||
			     (is_enum && is_other_enum(first.arg->type, now.arg->type)))) {
				ret[0] = first;
				ret[1] = now;
				return true;
			}
			if (!first.arg)
				first = now;
		}
	}
	return false;
}

static void note_seen(struct checker *k, unsigned n, const struct seen *s)
{
	struct diag_place at = {.file = s->site->file, .line = s->site->line};
	diag_note(k->b->diag, &at, "arg%u of " STR_FMT ":" STR_FMT " is " STR_FMT " here (%s)", n,
		  STR_ARG(s->probe->provider), STR_ARG(s->probe->name),
		  STR_ARG(probearg_declaration(k->b->arena, s->arg)),
		  probearg_from_text(s->arg->from));
}

static void check_arg(struct checker *k, struct node *value, bool is_enum)
{
	const struct node *n = node_ungrouped(value);
	struct seen two[2];
	unsigned arg;
	if (n->kind != NODE_NAME || !vocabulary_arg_number(n->name->text, &arg) ||
	    !finds_two(k, arg, is_enum, two))
		return;
	struct str one = probearg_type_text(k->b->arena, two[0].arg),
		   other = probearg_type_text(k->b->arena, two[1].arg);
	bool is_site = two[0].probe == two[1].probe;
	check_report_at(k, n->first, "disagree", DIAG_WARNING,
			"the %s disagree about arg%u: at one it is " STR_FMT
			", at another " STR_FMT,
			is_site ? "sites of this probe" : "probes of this clause", arg,
			STR_ARG(one), STR_ARG(other));
	note_seen(k, arg, &two[0]);
	note_seen(k, arg, &two[1]);
}

/** %d of it; %x and %p print any value as it is. */
static void check_printed(struct checker *k, struct node *call)
{
	struct node *format = format_find(call);
	struct conversion c = {0};
	if (!format)
		return;
	for (struct node *value = format->next; value && format_next(format->name->text, &c);
	     value = value->next)
		if (strchr("diuc", c.letter))
			check_arg(k, value, false);
}

void check_disagree(struct checker *k, struct node *n)
{
	if (!k->clause->probes.n || k->clause->is_wrong)
		return;
	if (n->kind == NODE_CALL && n->child &&
	    (tok_is(n->name, "str") || vocabulary_word(n->name->text)->wants[0] == WANTS_SAMPLE))
		check_arg(k, n->child, false);
	else if (node_is(n, NODE_CALL, "enum_name") && n->child && n->child->next)
		check_arg(k, n->child->next, true);
	else if (n->kind == NODE_CALL)
		check_printed(k, n);
	else if (n->kind == NODE_CAST && tok_is(n->child->last, "*"))
		check_arg(k, n->child->next, false);
}
