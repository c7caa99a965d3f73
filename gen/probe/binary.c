#include "probe/binary.h"

#include "probe/argnote.h"

void binary_close(struct binary *b)
{
	img_close(b->img);
	b->img = NULL;
}

struct argnotes *binary_notes(struct binary *b)
{
	if (!b->notes)
		b->notes = argnote_read(b->img);
	return b->notes;
}
