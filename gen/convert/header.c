#include "convert/header.h"

#include <inttypes.h>
#include <limits.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "record/stamp.h"

void header_write(const struct header *h, struct strbuf *out)
{
	char host[HOST_NAME_MAX + 1] = "";
	struct stamp stamp = {.offset = h->offset};
	struct json j = {.out = out};
	gethostname(host, sizeof(host) - 1);
	int64_t ns = clock_of_probes();
	json_open(&j, NULL, '{');
	json_open(&j, "capture", '{');
	json_str(&j, "host", str_from(host));
	json_str_or_null(&j, "boot_id", h->boot_id);
	json_printf(&j, "monotonic", "%" PRId64, ns);
	struct strbuf *wall = json_value(&j, "wall");
	strbuf_addc(wall, '"');
	stamp_rfc3339(&stamp, ns, wall);
	strbuf_addc(wall, '"');
	struct timex t = {0}; // disciplined by NTP, PTP or the like: adjtimex(2)
	json_bool(&j, "synchronized", adjtimex(&t) >= 0 && !(t.status & STA_UNSYNC));
	json_str(&j, "version", STR(BTGEN_VERSION));
	json_str_or_null(&j, "script", h->script);
	if (h->program.n)
		json_str(&j, "program", h->program);
	strbuf_adds(json_value(&j, "tracks"), h->tracks.n ? h->tracks : STR("[]"));
	if (h->skipped.n)
		strbuf_adds(json_value(&j, "skipped"), h->skipped);
	json_close(&j, '}');
	json_close(&j, '}');
	strbuf_addc(out, '\n');
}
