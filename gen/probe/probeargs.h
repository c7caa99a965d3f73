/**
 * probeargs - everything that is known about the arguments of a probe, and about its sites.
 *
 * A note of .note.stapsdt has size, sign and place of each argument. Names and types come from the
 * program itself where it was built with btgen/usdt.h (`declared`), else from the debug information
 * and the source (`inferred`), else from the list of well-known probes (`listed`, argsig.h); what
 * is not certain is left out: then only the size is known. One probe has several sites; what they
 * agree about is the probe's, and where they disagree that is shown.
 *
 *	struct probeargs pa;
 *	probeargs_read(&binary, signatures, probe, &pa);
 *	for (size_t i = 0; i < pa.n_args; i++)
 *		if (pa.args[i].type) ...
 */
#pragma once

#include "probe/binary.h"
#include "probe/probearg.h"

struct probesigs;

/**
 * All about @probe of @b; @signatures are those of documented probes, or NULL. Says nothing:
 * without debug information less is known.
 */
void probeargs_read(struct binary *b, struct probesigs *signatures, const struct sdt_probe *probe,
		    struct probeargs *ret);
/** The argument that is called @name at any site, or "argN" or N; false when there is none. */
bool probeargs_find(const struct probeargs *pa, struct str name, size_t *ret);
