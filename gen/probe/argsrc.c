#include "probe/argsrc.h"

#include <ctype.h>

#include "probe/argtype.h"
#include "source/call.h"
#include "usdt/argname.h"

enum { MAX_ARGS = 32 };

static bool is_literal(struct str expr)
{
	struct str s = expr;
	while (s.n && (s.p[0] == '-' || s.p[0] == '(' || s.p[0] == ' '))
		s = str_from_offset(s, 1);
	return s.n && (isdigit((unsigned char)s.p[0]) || s.p[0] == '"' || s.p[0] == '\'');
}

static struct argsrc_arg read_arg(struct argloc *l, const struct call_part *part)
{
	struct arena *a = l->src->arena;
	struct argname_arg arg;
	argname_parse(a, part->text, &arg);
	if (!part->is_known)
		return (struct argsrc_arg){.name = arg.name};
	return (struct argsrc_arg){.expr = arg.expr,
				   .name = arg.name,
				   .type = argtype_of_value(a, argsrc_type(l, arg.expr)),
				   .is_literal = is_literal(arg.expr),
				   .is_added = part->is_added,
				   .var = argloc_variable(l, arg.expr)};
}

bool argsrc_read(struct argloc *l, struct str probe, struct argsrc_arg *ret, size_t max,
		 size_t *ret_n)
{
	struct call_part parts[MAX_ARGS];
	if (!call_read(l->src, l->scope, probe, parts, max < MAX_ARGS ? max : MAX_ARGS, ret_n))
		return false;
	for (size_t i = 0; i < *ret_n; i++)
		ret[i] = read_arg(l, &parts[i]);
	return true;
}
