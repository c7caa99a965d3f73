#include "usdt/unraised.h"

#include <elf.h>

static bool is_unraised(const struct sdt_probe *p, const struct sdt_site *s)
{
	return s->semaphore && s->semaphore != p->sites[0].semaphore;
}

size_t unraised_count_sites(const struct sdt_probe *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_sites; i++)
		n += is_unraised(p, &p->sites[i]);
	return n;
}

static size_t nop_length(struct img *img, const struct sdt_site *s)
{
	uint8_t code[16];
	uint64_t off;
	size_t n = s->doubt == SDT_SURE ? img_read_code(img, s->pc, code, sizeof(code), &off) : 0;
	return !n ? 0 : img->machine == EM_AARCH64 ? 4 : sdt_x86_nop(code, n);
}

static void add(struct arena *a, struct img *img, const struct sdt_site *s, const struct map *taken,
		unraised_list *ret)
{
	struct unraised *known = vec_find(struct unraised, u, ret, u->semaphore == s->semaphore);
	size_t n = known && known->place ? 0 : nop_length(img, s);
	if (!known) {
		struct unraised new = {.semaphore = s->semaphore};
		if (!img_find_data(img, s->semaphore, &new.counter))
			new.counter = 0;
		vec_push(a, ret, new);
		known = &ret->v[ret->n - 1];
	}
	if (n && !map_get_u64(taken, s->pc + n))
		known->place = s->off + n;
}

void unraised_find(struct arena *a, struct img *img, const struct sdt_probe *p,
		   const struct map *taken, unraised_list *ret)
{
	for (size_t i = 0; i < p->n_sites; i++)
		if (is_unraised(p, &p->sites[i]))
			add(a, img, &p->sites[i], taken, ret);
}
