#include "template/trace.h"

#include "dialect/dialect.h"
#include "template/skeleton_priv.h"

bool trace_is_wanted(const struct trace_request *req)
{
	return req->patterns.n || req->start || req->calls.n;
}

bool trace_is_list(const struct trace_request *req)
{
	return req->patterns.n && !req->counts;
}

static bool write_latency(const struct skeleton *empty, const struct trace_request *req,
			  const struct shapes *shapes, struct code *out)
{
	struct skeleton start = *empty, done = *empty;
	bool good = skeleton_collect(&start, &req->start, 1);
	good &= skeleton_collect(&done, &req->done, 1);
	return good && tally_write_latency(&start, &done, str_from(req->key ? req->key : "tid"),
					   str_from(req->by ? req->by : ""), req->is_live,
					   shapes && shapes->can_gate ? shapes : NULL, out);
}

static bool write_patterns(struct skeleton *sk, const struct trace_request *req,
			   struct shapes *shapes, struct code *out)
{
	if (!skeleton_collect(sk, req->patterns.v, req->patterns.n))
		return false;
	skeleton_shorten_labels(sk);
	if (req->counts)
		return tally_write_counts(sk, str_from(req->counts), shapes, out);
	if (shapes || req->deep)
		follow_pointers(sk, req->deep);
	if (!shapes) {
		skeleton_write_template(sk, out);
		return true;
	}
	code_z(out, "#pragma gate\n");
	vec_each(const struct skeleton_probe, p, &sk->probes) {
		skeleton_write_head(p, sk->filter, out);
		skeleton_write_record(sk, p, SHAPE_LIST, 0, "", shapes, out);
	}
	return true;
}

static bool write_calls(struct skeleton *sk, const struct trace_request *req, struct shapes *shapes,
			struct code *out)
{
	if (!skeleton_collect(sk, req->calls.v, req->calls.n) || !skeleton_calls_are_safe(sk))
		return false;
	skeleton_shorten_labels(sk);
	if (shapes && sk->calls->has_args)
		follow_pointers(sk, 0);
	if (shapes)
		return skeleton_write_calls(sk, shapes, out);
	skeleton_write_calls_template(sk, out);
	return true;
}

struct src_file *trace_make(struct arena *a, struct diag *d, struct targetfiles *files,
			    unsigned version, const struct trace_request *req, bool is_one,
			    struct shapes *shapes)
{
	struct code text = {0};
	struct condition given = {0}, *filter = req->filter ? &given : NULL;
	struct src_file *ret = NULL;
	if (filter && !condition_read(a, d, req->filter, filter))
		return NULL;
	bool needs_arguments = filter || req->start || req->calls.n ||
			       (req->counts && !str_eqz(str_from(req->counts), "probe"));
	struct skeleton sk = {
	    .arena = a,
	    .diag = d,
	    .files = files,
	    .version = version,
	    .calls = req->calls.n ? &req->how : NULL,
	    .filter = filter,
	    .has_stack = req->has_stack,
	    .is_one = is_one && shapes,
	    .may_merge =
		shapes && files->proc && !filter && dialect_attaches_patterns_at_once(version) &&
		dialect_kernel_has_links() &&
		(req->calls.n ? is_one && !req->how.has_args
			      : req->counts && !tally_takes_arguments(str_from(req->counts))),
	    .copies = needs_arguments ? SKELETON_NO_COPIES : SKELETON_COPIES,
	};
	if (req->start	   ? write_latency(&sk, req, shapes, &text)
	    : req->calls.n ? write_calls(&sk, req, shapes, &text)
			   : write_patterns(&sk, req, shapes, &text)) {
		// Without a name: no place in it means anything to the user, but in the condition.
		ret = src_from_text(a, STR(""), code_str(&text));
		ret->quotes = filter ? filter->written.v : NULL;
		ret->n_quotes = filter ? filter->written.n : 0;
	}
	code_fini(&text);
	return ret;
}

unsigned trace_strlen(const struct shapes *all, unsigned version)
{
	enum { NUMBER = 8, COMM = 16, ADDRESS = 16 }; // with what is read with it, of a struct
	unsigned least = UINT_MAX;
	vec_each(const struct shape, s, &all->list) {
		size_t numbers, texts; // each followed by KEY, the first one also preceded by it
		shape_count(all, s, &numbers, &texts);
		if (s->style == SHAPE_KEY)
			continue;
		// KEY is looked up in its map by a key that is there, too.
		unsigned bytes = (unsigned)(NUMBER * (numbers + texts + 2) + COMM);
		for (size_t i = 0; i < s->n_fields; i++)
			bytes += ADDRESS * value_has_parts(&s->fields[i].value);
		unsigned n = dialect_printed_strlen(version, (unsigned)texts - 1, bytes);
		if (texts > 1 && n < least)
			least = n;
	}
	return least;
}
