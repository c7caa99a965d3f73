/**
 * dialect - what each bpftrace version accepts, in one place.
 *
 * A version is one number: 17 for 0.17.x, 23 for 0.23.x, 1000 for 1.0. Templates see it as
 * __BPFTRACE__. Every difference between versions that btgen knows is a question here, answered
 * from measurements; elsewhere no version is compared with a number (tests/lint.sh).
 */
#pragma once

#include "code/code.h"

#define DIALECT_OLDEST 17 /**< what we support at least */
#define DIALECT_DEFAULT 17
/** The newest one whose grammar lang/parse.h covers. */
#define DIALECT_NEWEST 27

/** A version in a message: diag_note(d, NULL, "bpftrace " DIALECT_FMT, DIALECT_ARG(v)). */
#define DIALECT_FMT "%u.%u"
#define DIALECT_ARG(v) (v) / 1000, (v) % 1000

/** Reads "bpftrace v0.17.0", "v0.23.2", "0.27"; false when it is no version. */
bool dialect_parse(struct str text, unsigned *ret);
/** Does this kernel attach one program to many functions, through one link? Since 6.6. */
bool dialect_kernel_has_links(void);

/**
 * A difference that holds from one version to another: one row, one question `bool NAME(unsigned v)`. After it is the
 * issue, pull request or commit of bpftrace about it; docs/dev/bpftrace-reports.md has what to send about the others.
 */
#define QUIRK(name, ...)                                                                           \
	static inline bool name(unsigned v)                                                        \
	{                                                                                          \
		return dialect_is_within(v, __VA_ARGS__);                                          \
	}
#define SINCE(first) first, UINT_MAX
#define UPTO(last) 0, last

static inline bool dialect_is_within(unsigned v, unsigned from, unsigned to)
{
	return v >= from && v <= to;
}

/**
 * A whole struct with a float or double in it can be printed, with blanks in their place. 0.17 ends
 * by a signal, 0.27 as well or prints null.
 */
QUIRK(dialect_prints_floats, 23, 23) // not reported
/**
 * Aborts where it prints a whole struct that ends in a char array, for it reads a byte more: the value or key of a map
 * at the end, with all other maps. 0.27, those from 0.24 on untried: tests/live/whole.t.
 */
QUIRK(dialect_aborts_on_last_text, SINCE(24)) // not reported
/** Several BEGIN (or END) clauses in one program: from 0.25. */
QUIRK(dialect_has_many_begins, SINCE(25)) // #4789
/** printf() formats are bpftrace's own from 0.24; before, they are C's, where "%.0ld" of 0 is "". */
QUIRK(dialect_has_own_printf, SINCE(24)) // 3049bbf41
/**
 * A part of `c ? x : y` that reads a map, has && or ||, or is a choice is computed wrong, or ends
 * bpftrace by a signal: measured with 0.23; 0.17 and 0.27 are right, those between untried. Shown by
 * tests/live/numbers.t.
 */
QUIRK(dialect_confuses_choices, 18, 23) // #4567
/** Prints the name of an enumerator for %s of (enum E)x, and a number where it has none: tests/live/enumtext.t. */
QUIRK(dialect_names_enums, SINCE(23)) // #3515
/** What is read of a map that nothing sets is 0 or "" from 0.24; before, it is an error. */
QUIRK(dialect_reads_unset_maps, SINCE(24)) // #4334
/** Cannot load a clause with one attach point twice; the others run it twice. */
QUIRK(dialect_refuses_same_probes, 21, 23) // not reported
/**
 * Finds the code of a list by the name of each probe in it: where a clause is for one of them alone,
 * it runs that one's code in its place, too (uprobe, tracepoint, interval), or cannot load the program
 * (usdt): 0.17 alone, tests/live/lists.t.
 */
QUIRK(dialect_confuses_lists, UPTO(17)) // not reported
/** A pattern that matches a function without a size ends bpftrace: "Offset outside the function bounds". */
QUIRK(dialect_refuses_sizeless, UPTO(17)) // mended in 0.18
/** With -p, events of the kernel are those of that process only: from 0.24. */
QUIRK(dialect_filters_kernel, SINCE(24)) // #3800
/** A variable that is first set in a block is known in it only: from 0.22. */
QUIRK(dialect_has_blocks, SINCE(22)) // #3367
/**
 * USDT by libbpf (from 0.24): arguments up to arg11; an argument that does not exist reads as 0 in
 * silence; an operand that libbpf cannot parse makes the whole probe unattachable.
 */
QUIRK(dialect_has_libbpf_usdt, SINCE(24)) // #4217
/** Attaches one program to all functions of a pattern at once where the kernel can (6.6), and knows which one it was in func. */
QUIRK(dialect_attaches_patterns_at_once, SINCE(23)) // #3052
/**
 * Raises the semaphore of a probe's first site for all of its sites, and none if that has none; newer ones
 * each site's own: 0.17, 0.23 and 0.27, tests/live/semaphores.t.
 */
QUIRK(dialect_raises_first_semaphore, UPTO(23)) // #3601
/**
 * Finds only types of a kernel from Linux 5.11 on, which gives them a number; those of an older one are
 * found through BPFTRACE_BTF.
 */
QUIRK(dialect_finds_types_by_number, UPTO(17)) // #2527
/**
 * Searches all types of the kernel for the struct of each member that is read, also where the
 * program defines it (BTF::type_of()): 2 ms each. 0.20 does not; 0.18 and 0.19 were not measured.
 */
QUIRK(dialect_searches_kernel_types, UPTO(17)) // not reported
/**
 * In a clause of a uprobe or uretprobe, searches all debug information of the probe's file for a struct of the name of
 * each cast, (uint64) too, and does not find it: 5 ms each with 100,000 entries (DIEs). Newer ones search for structs.
 */
QUIRK(dialect_searches_casts, UPTO(17)) // not reported
/** The oldest kernel that it is made for, as 5015 for Linux 5.15; it runs on older ones and warns. */
unsigned dialect_oldest_kernel(unsigned v);
/** Runs for users other than root who have certain capabilities: tests/live/caps.t. */
QUIRK(dialect_takes_capabilities, SINCE(25)) // #4773
/**
 * In a clause of a uprobe or uretprobe, `struct X` is first looked up in the debug information of
 * the probe's file, also when the program defines it; 0.17 aborts there on any struct with a member
 * that has no name.
 */
QUIRK(dialect_prefers_program_types, UPTO(22)) // not reported
/**
 * USDT probes that can be attached to at once; one whose sites have their arguments in N different
 * places counts as N (BPF_USDT_MAX_SPEC_CNT of libbpf's usdt.bpf.h, built into bpftrace).
 */
unsigned dialect_max_usdt(unsigned v);
/** Attach points, each site of a probe counted, that take no BPFTRACE_MAX_PROBES and BPFTRACE_MAX_BPF_PROGS. */
unsigned dialect_max_programs(unsigned v);
/** Can an attach point mean this probe and no other? Where the oldest version can, all can. */
bool dialect_can_name(unsigned v, struct str provider, struct str name);
/** The name of a provider or a probe as it is written there, in quotes where it needs them. */
struct safe_word dialect_spell_name(struct arena *a, struct str name);
/** Highest N of argN that this version can read. */
unsigned dialect_max_arg(unsigned v);
/**
 * Characters that str() and string maps can hold at most in a program that prints up to @strings of
 * them at once (sema/strings.h), and the variable that sets it.
 */
unsigned dialect_max_strlen(unsigned v, unsigned strings);
/** What that may be raised to for a program that reads longer ones. */
unsigned dialect_strlen_ceiling(unsigned v, unsigned strings);
/**
 * The first one for one printf() of @strings such strings and @bytes of other values: measured for all
 * numbers of both that 0.17 can print. Where all of it cannot fit, bpftrace is to say so.
 */
unsigned dialect_printed_strlen(unsigned v, unsigned strings, unsigned bytes);
/** Bytes that a string in the text of a program can have: measured with 0.17, 0.23 and 0.27. */
unsigned dialect_max_literal(unsigned v);
/** Bytes of strings in a program whose records are as long as its stack allows. */
enum { DIALECT_SHORT = 64 };
/** How many numbers can stand in one printf() beside @strings such strings and @others. */
unsigned dialect_printed_numbers(unsigned v, unsigned strings, unsigned others);
const char *dialect_strlen_variable(unsigned v);
/** Does each processor have a buffer of its own between the probes and bpftrace? */
QUIRK(dialect_reads_by_processor, UPTO(18)) // #2475
/** The number of keys of a map, unless that variable is set. */
enum { DIALECT_MAP_KEYS = 4096 };
const char *dialect_map_keys_variable(unsigned v);
/** Reports failed map updates, and events that count() missed, with -k only. */
QUIRK(dialect_hides_losses, 20, 22) // #3784
/** Does it say when a key finds no room in a map (with -k)? */
QUIRK(dialect_reports_full_maps, SINCE(20)) // not reported
/**
 * Pages of the buffer between the probes and bpftrace to ask for on a machine with @cpus
 * processors; 0: its own choice is better. Never less than its own.
 */
unsigned dialect_buffer_pages(unsigned v, unsigned cpus);
/**
 * min() keeps the least of the processor that was first alone, and none below 0: tests/live/samples.t. Right from 0.21.2 on, which the
 * version does not show.
 */
QUIRK(dialect_has_local_min, 20, 21) // #3298
/** avg() and stats() divide an unsigned sum as a signed one: tests/live/samples.t. */
QUIRK(dialect_has_signed_averages, UPTO(23)) // not reported
/** max() does not keep negative numbers, or prints them unsigned; right from 0.21.2 on: tests/live/samples.t. */
QUIRK(dialect_has_unsigned_max, UPTO(21)) // #3298
/** hist() counts what is 2^32 or more in [2G, 4G), and min() loses it: tests/live/samples.t. */
QUIRK(dialect_has_narrow_samples, UPTO(17)) // #2822
/**
 * count() of a key that two processors count for the first time at once misses one of them, and reports it
 * among the data.
 */
QUIRK(dialect_misses_first_count, 20, 23) // 9c93b1797
/** Reads the symbols of a process anew for each address, unless BPFTRACE_CACHE_USER_SYMBOLS keeps them. */
QUIRK(dialect_rebuilds_symbols, UPTO(22)) // not reported
/**
 * Closes a descriptor at random when it has read the symbols of a process, and a probe that has it is
 * silent from then on: before bcc 0.33 ModulePath::fd_ may have no value. With GLIBC_TUNABLES set to
 * DIALECT_FILLS_MEMORY it has a negative one.
 */
QUIRK(dialect_closes_descriptors, UPTO(23)) // bcc's #5193
/** glibc fills what it allocates, and recycles nothing without. */
#define DIALECT_FILLS_MEMORY "glibc.malloc.perturb=1:glibc.malloc.tcache_count=0"
/** Entries of one generated table beyond which the start takes longer than a user would wait. */
unsigned dialect_max_table(unsigned v);

// Numbers, texts and words of the language.

/**
 * Makes an unsigned number of a signed one and an unsigned one, has other maps for them, and
 * computes in as many bits as the wider operand has (0.18 to 0.23): tests/live/signs.t.
 */
QUIRK(dialect_mixes_signs, UPTO(23)) // #4132, #4136
/** argN and retval are signed numbers of 64 bits; before, unsigned ones: tests/live/signs.t. */
QUIRK(dialect_has_signed_args, SINCE(24)) // not reported
/**
 * A map whose only key is strerror() or cgroup_path() ends it by a signal when that is printed: measured with
 * 0.17 and 0.23, 0.27 is right. Before keys of several parts were tuples (0.22), as a part of them, too: tests/live/words.t.
 */
QUIRK(dialect_aborts_on_named_key, UPTO(23))  // #3421
QUIRK(dialect_aborts_on_named_part, UPTO(21)) // #3421
/** A tuple of macaddr() and texts alone ends it by a signal: 0.17; 0.23 is right, those between untried. */
QUIRK(dialect_aborts_on_macaddr_in_tuple, UPTO(17)) // not reported
/** What count() and the like keep is one processor's share of it in a tuple: 0.17, those between untried. */
QUIRK(dialect_reads_own_share, UPTO(20)) // #3189
/** .. and ends it by a signal as a key: 0.17. */
QUIRK(dialect_aborts_on_counted_key, UPTO(21)) // #3594
/** stats() is zeros in a tuple: 0.27; 0.23 refuses it, those between untried. */
QUIRK(dialect_empties_stats, SINCE(24)) // not reported
/** sargN, the arguments of a function on the stack: tests/live/words.t. */
QUIRK(dialect_has_stack_args, UPTO(24)) // #4686
/** str() of a char array in a struct of the kernel is an error: 0.17 and 0.23, not 0.27; tests/live/words.t. */
QUIRK(dialect_refuses_arrays_as_text, UPTO(23)) // #4871
/** An array as a key is printed with signed elements, whatever they are: 0.17, but not 0.23; those between untried. */
QUIRK(dialect_prints_signed_arrays, UPTO(17)) // not reported
/** str(p, N) delivers N-1 characters; before, N: tests/live/dialect.t. */
QUIRK(dialect_counts_end_of_text, SINCE(23)) // #3849
/** == of tuples compares where they are: 0.17 and 0.23, but not 0.27; those between untried. */
QUIRK(dialect_compares_tuples_by_address, UPTO(23)) // #4523
/** find() reads the map as memory of the program where a probe of a program fires: 0.27; it came with 0.25. */
QUIRK(dialect_finds_nothing, SINCE(25)) // not reported
/** has_cpid is true where cpid is 0: 0.27; it came with 0.25. Shown by tests/live/builtins.t. */
QUIRK(dialect_inverts_has_cpid, SINCE(25)) // not reported
/** strlen(), strcap() and strstr() read a pointer as one of the kernel's: 0.27; they came with 0.25. */
QUIRK(dialect_reads_kernel_texts, SINCE(25)) // not reported
/** unwatch() makes an object that it cannot load, and ends it by a signal: 0.27; 0.23 is right, those between untried. */
QUIRK(dialect_dies_of_unwatch, SINCE(27)) // not reported
/** Divides by 0 when it prints avg() or stats() after zero(): 0.23.2, and 0.22.0 to 0.23.5 by their source. */
QUIRK(dialect_dies_of_zeroed_averages, 22, 23) // not reported
/**
 * Puts what follows a literal in a key right after it, where the kernel refuses to store a number ("misaligned stack
 * access") if 8 does not divide the longest one's size and a shorter one's: 0.17, but not 0.23; tests/live/tally.t.
 */
QUIRK(dialect_misaligns_keys, UPTO(17)) // not reported
/** func in a uretprobe is where it returns to: 0.17; 0.23 has the function. */
QUIRK(dialect_names_caller, UPTO(17)) // #2645
/** uaddr() is the address in the file, wherever that is mapped: 0.17 and 0.23. */
QUIRK(dialect_has_fixed_addresses, UPTO(23)) // #4727
/** Takes `lhist(x, 0, 10 * 10, 10)`: 0.27; 0.17 and 0.23 want digits there, those between untried. */
QUIRK(dialect_folds_constants, SINCE(24)) // not reported
/** The last interval of lhist() begins at the maximum, also where the step does not end there: 0.17, 0.23. */
QUIRK(dialect_cuts_last_interval, UPTO(23)) // not reported
/**
 * Copies as many bytes of either string of `c ? x : y` as the longer one has: the bytes after the shorter
 * one make another key of it: tests/live/texts.t.
 */
QUIRK(dialect_leaves_texts_open, UPTO(23)) // not reported
/**
 * Passes the storage of a variable that is a string as the only key of a map, as many bytes as the longest key
 * there has, and frees it then: what it holds afterwards is anything. 0.17 does, 0.23 does not; those
 * between untried: tests/live/texts.t.
 */
QUIRK(dialect_reads_past_variables, UPTO(22)) // not reported
/**
 * Attaches to an address inside a function: 0.20 to 0.27, measured. Debian's 0.17 cannot tell where its
 * instructions begin, and refuses, with --unsafe as well; the entry of a function it takes by its
 * address, too: tests/live/places.t.
 */
QUIRK(dialect_attaches_inside, SINCE(20)) // not reported
/** args of functions, which bpftrace finds itself: tests/live/functions.t. */
QUIRK(dialect_has_function_args, SINCE(19)) // not reported
/** args is a pointer: args->fd of a tracepoint, but not args.fd: tests/live/host.t. */
QUIRK(dialect_points_at_args, UPTO(18)) // #2578
/** interval:5s; before, interval:s:5 alone: tests/check/versions.cases. */
QUIRK(dialect_has_durations, SINCE(24)) // #4317

// The stack of a BPF program, 512 bytes.

/** What printf() prints is on it, and so are variables: tests/live/structs.t. */
QUIRK(dialect_prints_from_stack, UPTO(22)) // not reported

// Processes.

/** pid and tid are those of the first namespace; later, of bpftrace's own: tests/live/container.t. */
QUIRK(dialect_has_host_pids, UPTO(22)) // #3428
/** With -p, uprobes fire for all processes all the same: tests/live/run.t. */
QUIRK(dialect_lets_uprobes_through, UPTO(22)) // not reported
/** "Lost 42 events" is among the data: tests/live/loss.t. */
QUIRK(dialect_has_lost_lines, UPTO(23)) // #4504

/** What a user of these versions meets sooner or later, and btgen cannot make good. */
struct dialect_defect {
	unsigned from, to; /**< versions */
	const char *text;  /**< "bpftrace 0.17 ..." */
	const char *remedy;
};
/** Ends with a row without a text. */
extern const struct dialect_defect dialect_defects[];

#undef QUIRK
#undef SINCE
#undef UPTO
