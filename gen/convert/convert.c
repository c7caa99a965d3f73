#include "convert/convert.h"

#include <fcntl.h>
#include <sys/timex.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/outfile.h"
#include "process/proc.h"
#include "process/python.h"
#include "record/stamp.h"

void convert_write_header(const struct header *h, struct strbuf *out)
{
	char host[HOST_NAME_MAX + 1] = "";
	struct stamp stamp = {.offset = h->offset};
	struct json j = {.out = out};
	gethostname(host, sizeof(host) - 1);
	int64_t ns = clock_of_probes();
	json_open(&j, NULL, '{');
	json_open(&j, "capture", '{');
	json_printf(&j, "schema", "%d", CAPTURE_SCHEMA);
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

bool convert_is_format(const char *format)
{
	return strcmp(format, "perfetto") == 0 || strcmp(format, "otlp") == 0 ||
	       strcmp(format, "folded") == 0;
}

/** A regular file, or one that is to be made. What a link leads to may be a descriptor of ours, as /dev/stdout. */
static bool is_file(const char *out)
{
	struct stat st;
	return out && (lstat(out, &st) != 0 || S_ISREG(st.st_mode));
}

static bool make_unnamed(struct arena *a, struct diag *d, struct convert *c)
{
	const char *dir = getenv("TMPDIR");
	dir = dir && *dir ? dir : "/tmp";
	char *path = arena_printf(a, "%s/btgen-capture.XXXXXX", dir);
	c->fd = mkostemp(path, O_CLOEXEC);
	if (c->fd < 0 || unlink(path) != 0)
		return diag_error(d, NULL, "cannot write a capture in %s: %s", dir,
				  strerror(errno));
	c->capture = arena_printf(a, "/dev/fd/%d", c->fd);
	return true;
}

bool convert_begin(struct arena *a, struct diag *d, const char *format, const char *out,
		   struct convert *ret)
{
	struct stat st;
	*ret = (struct convert){.format = format, .out = out, .fd = -1};
	if (!python_find(a, d, "convert.py", &ret->program) ||
	    (out && !outfile_may_write(a, d, "-o", out)))
		return false;
	if (!is_file(out))
		return make_unnamed(a, d, ret);
	ret->capture = arena_printf(a, "%s.json", out);
	return lstat(ret->capture, &st) != 0 ||
	       diag_error(d, NULL,
			  "-o: the trace is kept in %s until it is converted, and that exists: "
			  "move it, or name another file",
			  ret->capture);
}

/** The exit status of `btgen convert`. */
static int run_convert(struct arena *a, struct diag *d, const struct convert *c)
{
	// As cmd_become_python() passes them on.
	const char *args[] = {proc_own_exe(a).p,
			      arena_printf(a, "--format=%s", c->format),
			      arena_printf(a, "--output=%s", c->out ? c->out : "-"),
			      "--",
			      c->fd < 0 ? c->capture : "-",
			      NULL};
	int status;
	if (c->fd >= 0)
		lseek(c->fd, 0, SEEK_SET);
	pid_t pid =
	    python_start(a, c->program, args, c->fd < 0 ? STDIN_FILENO : c->fd, STDOUT_FILENO);
	if (pid < 0) {
		diag_error(d, NULL, "cannot start the conversion: %s", strerror(errno));
		return 1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int convert_end(struct arena *a, struct diag *d, struct convert *c, int status, bool is_whole)
{
	bool converts = is_whole || c->fd >= 0; // one without a name would be lost
	int converted = converts ? run_convert(a, d, c) : 0;
	struct stat st;
	if (c->fd >= 0)
		close(c->fd);
	else if (converts && !converted)
		unlink(c->capture);
	else if (stat(c->capture, &st) == 0)
		diag_note(d, NULL,
			  "the capture is in %s: to convert it, run btgen convert -f %s -o %s %s",
			  c->capture, c->format, c->out, c->capture);
	return status ? status : converted;
}
