#include "probe/binary.h"

#include "btf/kbtf.h"
#include "btf/typenote.h"
#include "usdt/argnote.h"

void binary_init(struct binary *ret, struct img *img)
{
	*ret = (struct binary){.img = img, .src = dwsrc_new(img), .arena = img->arena};
}

void binary_close(struct binary *b)
{
	kbtf_close(b->btf);
	typenote_free(b->types);
	img_close(b->img);
	*b = (struct binary){0};
}

struct argnotes *binary_notes(struct binary *b)
{
	if (!b->notes)
		b->notes = argnote_read(b->img);
	return b->notes;
}

bool binary_has_debuginfo(struct binary *b)
{
	return dwsrc_open(b->src);
}

struct kbtf *binary_btf(struct binary *b)
{
	if (!b->btf_read)
		b->btf = kbtf_open_program(b->img);
	b->btf_read = true;
	return b->btf;
}

struct typenote *binary_types(struct binary *b)
{
	if (!b->types_read)
		b->types = typenote_read(b->img);
	b->types_read = true;
	return b->types;
}

void binary_add_sources(struct binary *b, struct dwtypes *all, struct lookup *lk)
{
	dwtypes_add(all, b->src);
	if (binary_btf(b)) {
		// The first file is the one that the user named: it is as if it had debug information.
		kbtf_source(b->btf)->is_rest = all->images.n > 1;
		lookup_add(lk, kbtf_source(b->btf));
	}
	if (binary_types(b))
		lookup_add(lk, typenote_source(b->types));
}

struct type_source *binary_other_types(struct binary *b)
{
	return !binary_has_debuginfo(b) && binary_btf(b) ? kbtf_source(b->btf) : NULL;
}
