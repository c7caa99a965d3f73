/**
 * folly/tracing/StaticTracepoint.h - a drop-in for Folly's header of that name: the same macros, the probes of btgen/usdt.h.
 *
 *	c++ -I.../include/btgen/compat program.cc	that is all; no source changes
 *
 *	FOLLY_SDT(provider, name, args...)			a probe with 0..12 arguments
 *
 *	FOLLY_SDT_DEFINE_SEMAPHORE(provider, name)		at file or namespace scope, in one file: a tracer raises it
 *	FOLLY_SDT_DECLARE_SEMAPHORE(provider, name)		in others
 *	FOLLY_SDT_IS_ENABLED(provider, name)			is a tracer attached? (an expression)
 *	FOLLY_SDT_WITH_SEMAPHORE(provider, name, args...)	a probe that has it
 *
 *	FOLLY_HAVE_SDT		1, or 0 with -DFOLLY_DISABLE_SDT=1 or -DUSDT_DISABLE: no code and no data is left then, and
 *				arguments are not evaluated
 *	FOLLY_SDT_ARG_CONSTRAINT	where operands may be, of GNU C's asm: as Folly has it, before this header
 *
 * FOLLY_SDT_DEFINE_SEMAPHORE and FOLLY_SDT_DECLARE_SEMAPHORE need no semicolon:
 *
 *	FOLLY_SDT_DEFINE_SEMAPHORE(mapper, large_map)
 *	...
 *	if (FOLLY_SDT_IS_ENABLED(mapper, large_map))
 *		FOLLY_SDT_WITH_SEMAPHORE(mapper, large_map, size, count_pages(region));
 *
 * What is different from the original: arguments are registers or constants unless FOLLY_SDT_ARG_CONSTRAINT says
 * otherwise (a memory place may be one that no tracer reads); a struct or a floating-point argument does not compile
 * (see USDT_BITS); a semaphore is known in its executable or library alone, and its symbol is another, so that a
 * program is compiled with the one header or with the other. C may use it, too. And the notes carry names, the
 * debug information types.
 */
#ifndef FOLLY_TRACING_STATICTRACEPOINT_H
#define FOLLY_TRACING_STATICTRACEPOINT_H

#if !defined(USDT_CONSTRAINT) && defined(FOLLY_SDT_ARG_CONSTRAINT)
#define USDT_CONSTRAINT FOLLY_SDT_ARG_CONSTRAINT
#endif
#include "../../../usdt.h"

#if defined(FOLLY_DISABLE_SDT) && FOLLY_DISABLE_SDT
#define USDT__FOLLY_OFF 1
#elif defined(USDT_DISABLE)
#define USDT__FOLLY_OFF 1
#else
#define USDT__FOLLY_OFF 0
#endif

#if USDT__FOLLY_OFF
#define FOLLY_HAVE_SDT 0
static inline __attribute__((__unused__)) void usdt_folly_none(int n, ...)
{
	(void)n;
}
#define FOLLY_SDT(provider, ...) USDT__FOLLY_NONE(__VA_ARGS__, 0)
#define FOLLY_SDT_WITH_SEMAPHORE(provider, ...) USDT__FOLLY_NONE(__VA_ARGS__, 0)
/* Used, but not evaluated. */
#define USDT__FOLLY_NONE(name, ...)                                                                \
	do {                                                                                       \
		if (0)                                                                             \
			usdt_folly_none(0, __VA_ARGS__);                                           \
	} while (0)
#define FOLLY_SDT_DEFINE_SEMAPHORE(provider, name)
#define FOLLY_SDT_DECLARE_SEMAPHORE(provider, name)
#define FOLLY_SDT_IS_ENABLED(provider, name) (0)
#else
#define FOLLY_HAVE_SDT 1
#define FOLLY_SDT(provider, ...)                                                                   \
	USDT__SITE(USDT__STR(#__VA_ARGS__), USDT__SEMA_IMPLICIT, , provider, __VA_ARGS__)
#define FOLLY_SDT_WITH_SEMAPHORE(provider, ...)                                                    \
	USDT__SITE(USDT__STR(#__VA_ARGS__), USDT__SEMA_EXPLICIT,                                   \
		   USDT__FOLLY_SEMA(provider, __VA_ARGS__, ), provider, __VA_ARGS__)
#define FOLLY_SDT_DEFINE_SEMAPHORE(provider, name)                                                 \
	USDT_SEMA_DEFINE(folly_sdt_semaphore_##provider##_##name);
#define FOLLY_SDT_DECLARE_SEMAPHORE(provider, name)                                                \
	USDT_SEMA_DECLARE(folly_sdt_semaphore_##provider##_##name);
#define FOLLY_SDT_IS_ENABLED(provider, name)                                                       \
	USDT_SEMA_ENABLED(folly_sdt_semaphore_##provider##_##name)
#define USDT__FOLLY_SEMA(provider, name, ...) folly_sdt_semaphore_##provider##_##name
#endif

#endif /* FOLLY_TRACING_STATICTRACEPOINT_H */
