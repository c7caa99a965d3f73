#include "probe/binary.h"

#include "btf/typenote.h"
#include "usdt/argnote.h"

void binary_init(struct binary *ret, struct img *img)
{
	*ret = (struct binary){.img = img, .src = dwsrc_new(img), .arena = img->arena};
}

void binary_close(struct binary *b)
{
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

struct typenote *binary_types(struct binary *b)
{
	if (!b->types_read)
		b->types = typenote_read(b->img);
	b->types_read = true;
	return b->types;
}
