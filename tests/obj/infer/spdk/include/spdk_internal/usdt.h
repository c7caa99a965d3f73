/* Of the shape that SPDK's header of this name has: macros alone, each twice, an argument put before the caller's. */
#ifndef SPDK_INTERNAL_USDT_H
#define SPDK_INTERNAL_USDT_H

#include "spdk/config.h"
#include "spdk/env.h"

#if defined(SPDK_CONFIG_USDT) && !defined(SPDK_UNIT_TEST)

#include <sys/sdt.h>

#define SPDK_DTRACE_PROBE(probe) DTRACE_PROBE1(spdk, probe, 0)
#define SPDK_DTRACE_PROBE1(probe, x1) DTRACE_PROBE2(spdk, probe, 0, x1)
#define SPDK_DTRACE_PROBE2(probe, x1, x2) DTRACE_PROBE3(spdk, probe, 0, x1, x2)
#define SPDK_DTRACE_PROBE3(probe, x1, x2, x3) DTRACE_PROBE4(spdk, probe, 0, x1, x2, x3)
#define SPDK_DTRACE_PROBE4(probe, x1, x2, x3, x4) DTRACE_PROBE5(spdk, probe, 0, x1, x2, x3, x4)

#define SPDK_DTRACE_PROBE_TICKS(probe) DTRACE_PROBE1(spdk, probe, spdk_get_ticks())
#define SPDK_DTRACE_PROBE1_TICKS(probe, x1) DTRACE_PROBE2(spdk, probe, spdk_get_ticks(), x1)
#define SPDK_DTRACE_PROBE2_TICKS(probe, x1, x2) DTRACE_PROBE3(spdk, probe, spdk_get_ticks(), x1, x2)
#define SPDK_DTRACE_PROBE3_TICKS(probe, x1, x2, x3) DTRACE_PROBE4(spdk, probe, spdk_get_ticks(), x1, x2, x3)

#else

#define SPDK_DTRACE_PROBE(...)
#define SPDK_DTRACE_PROBE1(...)
#define SPDK_DTRACE_PROBE2(...)
#define SPDK_DTRACE_PROBE3(...)
#define SPDK_DTRACE_PROBE4(...)

#define SPDK_DTRACE_PROBE_TICKS(...)
#define SPDK_DTRACE_PROBE1_TICKS(...)
#define SPDK_DTRACE_PROBE2_TICKS(...)
#define SPDK_DTRACE_PROBE3_TICKS(...)

#endif

#endif
