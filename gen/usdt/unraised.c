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

/** Bytes of the nop at @code: 0x90, or 0f 1f with a ModRM byte and what that asks for (Intel SDM volume 2, 2.1.3); 0: it is not known. */
static size_t x86_nop_length(const uint8_t *code, size_t n)
{
	size_t i = 0;
	while (i < n && (code[i] == 0x66 || code[i] == 0x2e))
		i++;
	if (i < n && code[i] == 0x90)
		return i + 1;
	if (i + 2 >= n || code[i] != 0x0f || code[i + 1] != 0x1f)
		return 0;
	unsigned mod = code[i + 2] >> 6, rm = code[i + 2] & 7;
	bool has_sib = mod != 3 && rm == 4;
	i += 3 + has_sib + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
	return i;
}

static size_t nop_length(struct img *img, const struct sdt_site *s)
{
	uint8_t code[16];
	uint64_t off;
	size_t n = s->doubt == SDT_SURE ? img_read_code(img, s->pc, code, sizeof(code), &off) : 0;
	return !n ? 0 : img->machine == EM_AARCH64 ? 4 : x86_nop_length(code, n);
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
