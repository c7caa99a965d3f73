/**
 * probes - the probes of the target, and the record of what they were given.
 *
 * Each probe has the provider `spdk` and one argument before the caller's: the constant 0 (PROBE)
 * or the time stamp counter (PROBE_TICKS). So the caller's arguments are arg1 to arg4.
 *
 * With `--log FILE` every probe that fires also writes one line, from the same expressions:
 *
 *     <CLOCK_MONOTONIC in ns> <thread of the kernel> <name> <arg0> <arg1> ...      (tabs between)
 *
 * Integers are decimal, addresses are 0x..., strings are as they are. A test compares a trace with it.
 *
 * Built with -DSPDK_RELEASE=2401 the probes are those that release 24.01 of SPDK has, 2609 its master of
 * August 2026: as there, <sys/sdt.h> makes them, and nothing declares their arguments.
 */
#ifndef PROBES_H
#define PROBES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef SPDK_RELEASE
#define SDT_USE_VARIADIC
// bpftrace 0.24 and newer attach to no probe with a global variable as its operand.
#define STAP_SDT_ARG_CONSTRAINT nr
#include <sys/sdt.h>
#define PROBE_SITE(name, ...) STAP_PROBEV(spdk, name, __VA_ARGS__)
#define USDT_DOC(...) _Static_assert(1, "")
#else
#include <btgen/usdt.h>
#define SPDK_RELEASE 2609
#define PROBE_SITE(name, ...) USDT_PROBE(spdk, name, __VA_ARGS__)
#endif

struct log_arg {
	enum { LOG_INT, LOG_UINT, LOG_PTR, LOG_STR } kind;
	union {
		int64_t i;
		uint64_t u;
		const void *p;
		const char *s;
	};
};

/** Is there a log? Set once, before any thread starts. */
extern bool probe_log_on;

/** Opens the log; false and errno on failure. */
bool probe_log_open(const char *path);
void probe_log_close(void);
void probe_log_write(const char *name, const struct log_arg *args, int n);

static inline struct log_arg log_int(int64_t v)
{
	return (struct log_arg){.kind = LOG_INT, .i = v};
}

static inline struct log_arg log_uint(uint64_t v)
{
	return (struct log_arg){.kind = LOG_UINT, .u = v};
}

static inline struct log_arg log_ptr(const void *v)
{
	return (struct log_arg){.kind = LOG_PTR, .p = v};
}

static inline struct log_arg log_str(const char *v)
{
	return (struct log_arg){.kind = LOG_STR, .s = v};
}

#define LOG_ARG(x)                                                                                 \
	_Generic((x),                                                                              \
	    char *: log_str,                                                                       \
	    const char *: log_str,                                                                 \
	    short: log_int,                                                                        \
	    int: log_int,                                                                          \
	    long: log_int,                                                                         \
	    bool: log_uint,                                                                        \
	    unsigned char: log_uint,                                                               \
	    unsigned short: log_uint,                                                              \
	    unsigned int: log_uint,                                                                \
	    unsigned long: log_uint,                                                               \
	    default: log_ptr)(x)

#define LOG_1(a) LOG_ARG(a)
#define LOG_2(a, b) LOG_ARG(a), LOG_ARG(b)
#define LOG_3(a, b, c) LOG_2(a, b), LOG_ARG(c)
#define LOG_4(a, b, c, d) LOG_3(a, b, c), LOG_ARG(d)
#define LOG_PICK(_1, _2, _3, _4, f, ...) f
#define LOG_ARGS(...) LOG_PICK(__VA_ARGS__, LOG_4, LOG_3, LOG_2, LOG_1, )(__VA_ARGS__)

#define PROBE_LOG(name, ...)                                                                       \
	do {                                                                                       \
		if (probe_log_on) {                                                                \
			struct log_arg log_args_[] = {__VA_ARGS__};                                \
			probe_log_write(name, log_args_, sizeof(log_args_) / sizeof(*log_args_));  \
		}                                                                                  \
	} while (0)

static inline uint64_t spdk_get_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return 0;
#endif
}

/** A probe with 1 to 4 arguments of its own; arg0 is 0. */
#define PROBE(name, ...)                                                                           \
	do {                                                                                       \
		PROBE_LOG(#name, log_int(0), LOG_ARGS(__VA_ARGS__));                               \
		PROBE_SITE(name, 0, __VA_ARGS__);                                                  \
	} while (0)

/** The same, arg0 is the time stamp counter. */
#define PROBE_TICKS(name, ...)                                                                     \
	do {                                                                                       \
		uint64_t ticks = spdk_get_ticks();                                                 \
		PROBE_LOG(#name, log_uint(ticks), LOG_ARGS(__VA_ARGS__));                          \
		PROBE_SITE(name, ticks, __VA_ARGS__);                                              \
	} while (0)

#if SPDK_RELEASE < 2305
#undef PROBE
#define PROBE PROBE_TICKS
#endif

/** A probe that SPDK has from @release on, up to @release. */
#define SINCE(release, probe)                                                                      \
	do {                                                                                       \
		if (SPDK_RELEASE >= (release))                                                     \
			probe;                                                                     \
	} while (0)
#define UNTIL(release, probe)                                                                      \
	do {                                                                                       \
		if (SPDK_RELEASE <= (release))                                                     \
			probe;                                                                     \
	} while (0)

#endif
