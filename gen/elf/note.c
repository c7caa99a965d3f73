#include "elf/note.h"

bool note_next(struct reader *r, struct note *ret)
{
	if (r->err || reader_at_end(r))
		return false;
	*ret = (struct note){.off = reader_offset(r)};
	uint32_t namesz = reader_u32(r), descsz = reader_u32(r);
	ret->type = reader_u32(r);
	ret->has_header = !r->err;
	ret->owner = reader_bytes(r, namesz);
	if (ret->owner.n && !ret->owner.p[ret->owner.n - 1])
		ret->owner.n--;
	reader_align(r, 4);
	ret->desc_off = reader_offset(r);
	ret->desc = reader_bytes(r, descsz);
	reader_align(r, 4);
	return !r->err;
}
