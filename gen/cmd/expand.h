/**
 * expand - from a command line to the program that bpftrace is given; what `expand` and `run`
 * share.
 *
 * Reads the templates, looks the target up, preprocesses, binds names to the target's files and
 * writes the program. Errors are reported; a program after an error is never returned.
 */
#pragma once

#include "cmd/cmd.h"
#include "template/trace.h"
#include "process/cgroup.h"
#include "conf/probesig.h"

/** A template as the command line named it. */
struct expand_source {
	const char *text; /**< file name, or the text of -e */
	bool is_text;
	struct src_file *made; /**< of -t, or NULL */
};

struct expand_request {
	struct arena *arena; /**< of the lists */
	VEC(int) pids;
	bool by_name;		 /**< some of them: anybody can give a program the name */
	const char *exe;	 /**< -x FILE, or NULL */
	const char *at;		 /**< of `bundle`: where that is on the target; NULL: at FILE */
	const char *cgroup_name; /**< --cgroup PATH, or NULL */
	VEC(struct expand_source) sources;
	word_list defines;	    /**< as -D had them */
	word_list dirs;		    /**< as -I had them */
	struct trace_request trace; /**< -t: instead of sources */
	bool json;		    /**< -f json, of these; of `check`: --json */
	bool pcp;		    /**< of `bundle`: --pcp */
	const char *lock, *against; /**< of `check`: its options of these names, or NULL */
	bool update;		    /**< of `check`: a lock that differs is rewritten */
	const char *out;	    /**< -o FILE, or NULL */
	VEC(unsigned) versions;	    /**< of `check`: for each of these, if there are several */
	bool without_text;	    /**< the program is not printed */
	VEC(struct diag_choice) findings; /**< -W NAME, -W no-NAME */
	bool strict;			  /**< -W error */
	bool forced;			  /**< --force */
	bool raw;		 /**< the source is a finished program (USE_CMDLINE_BPF_PROGRAM) */
	struct bind_given given; /**< what options give; the rest is set when the target is open */
};

struct expansion {
	struct program program;
	struct proc *proc; /**< the target, or NULL; owned */
	size_t n_parents;  /**< see proc_parents_first(); 1: the others are its children */
	bool is_open;	   /**< the target was read, if there is one */
	bool names_one;	   /**< the script has a process in mind: __PID__ */
	struct targetfiles files;
	struct bind bind;   /**< what was found out about the program */
	struct str script;  /**< with patterns: the template that was made for them */
	struct str skipped; /**< JSON, see skipped_json(): probes that are not traced */
};

/** Rows of options that several commands have, whose first member is a struct expand_request. */
#define EXPAND_PROCESS_ROW(help) CMD_ROW('p', "pid", "PID|NAME", CMD_CALL(expand_add_process), help)
#define EXPAND_FILE_ROW(help) CMD_ROW('x', "exe", "FILE", CMD_CALL(expand_set_file), help)
#define EXPAND_FAMILY_ROWS                                                                         \
	CMD_ROW(0, "children", NULL, CMD_FLAG(struct expand_request, given.has_family),            \
		"also trace child processes"),                                                     \
	    CMD_ROW(0, "cgroup", "PATH", CMD_STRING(struct expand_request, cgroup_name),           \
		    "trace the processes in this cgroup, now or later; only NAME, if given")
#define EXPAND_MACRO_ROWS                                                                          \
	CMD_ROW('D', "define", "NAME[=VALUE]", CMD_CALL(expand_add_define), "define a macro"),     \
	    CMD_ROW('I', "include", "DIR", CMD_LIST(struct expand_request, dirs),                  \
		    "search DIR for #include")
#define EXPAND_SCRIPT_ROWS                                                                         \
	CMD_ROW('e', "text", "TEXT", CMD_CALL(expand_add_text),                                    \
		"template text instead of a file"),                                                \
	    EXPAND_MACRO_ROWS,                                                                     \
	    CMD_ROW(0, "conf", "FILE", CMD_STRING(struct expand_request, given.conf),              \
		    "list of enum tables [bpf/enums.conf]"),                                       \
	    CMD_ROW(                                                                               \
		'W', "warn", "NAME|no-NAME|error|help", CMD_CALL(expand_set_finding),              \
		"enable or disable (no-) findings called NAME; make warnings errors; list names"), \
	    CMD_ROW(0, "force", NULL, CMD_FLAG(struct expand_request, forced),                     \
		    "run despite errors in the findings")
#define EXPAND_OUT_ROW(help)                                                                       \
	CMD_ROW('o', "output", "FILE", CMD_STRING(struct expand_request, out), help)
#define EXPAND_VERBOSE_ROW(help)                                                                   \
	CMD_ROW('v', "verbose", NULL, CMD_FLAG(struct expand_request, given.verbose), help)
#define EXPAND_VERSION_ROW(help)                                                                   \
	CMD_ROW(0, "for", "VERSION", CMD_VERSION(struct expand_request, given.version), help)
#define EXPAND_JSON_ROW(help) CMD_ROW(0, "json", NULL, CMD_FLAG(struct expand_request, json), help)

/** As struct cmd_option wants them; @request begins with a struct expand_request. */
int expand_add_process(void *request, const char *value);
int expand_set_file(void *request, const char *value);
int expand_add_text(void *request, const char *value);
int expand_add_define(void *request, const char *value);
int expand_set_finding(void *request, const char *value);
/** An operand: a script. */
int expand_add_script(void *request, const char *word);
/** @path, which @option is to write, would be the end of a script that has the same name: false, after an error. */
bool expand_spares_scripts(struct diag *d, const struct expand_request *req, const char *option,
			   const char *path);
/** Reads @options, scripts, and what is to be done with them: at least one, for one target. */
int expand_read_options(const struct cmd_options *options, const char *purpose, int argc,
			char **argv, struct expand_request *req);
/**
 * The file that @name means, whoever wrote it: as given, then among our own scripts, each with and without
 * ".bt". NULL: there is none.
 */
const char *stock_find(struct arena *a, const char *name);
/**
 * The same. Scripts run as root: false, after an error, when a bare name that one of our own has means
 * a file that somebody else can have put there.
 */
bool stock_choose(struct arena *a, struct diag *d, const char *name, const char **ret);
/** -L: a line for each of our own scripts; false after an error. */
bool stock_list(struct arena *a);
/** -h SCRIPT: a script's header, and the facts of its text; false after an error. */
bool stock_page(struct arena *a, const char *name);
/** The script of our own that is called most nearly so, or NULL. */
const char *stock_near(struct arena *a, const char *name);
/** Finds the file of a script; false after an error. @has_pid: a process was given, @name cannot be one. */
bool expand_find_script(struct arena *a, struct diag *d, const char *name, bool has_pid,
			const char **ret);
/** For a @word that is neither a process nor a script; returns CMD_USAGE. */
int expand_unknown_word(const struct expand_request *req, const char *word);
/**
 * Adds the process with PID @word, the PIDs in it as pidof(1) prints them, or those of that name;
 * false when there is none of that name.
 */
bool expand_add_processes(struct expand_request *req, const char *word);
/**
 * With --cgroup: those of the processes given that are in it, or all that are. False, with an error,
 * when there is none, or they are not of one program.
 */
bool expand_choose_cgroup(struct diag *d, struct expand_request *req);
/** "12 13" */
const char *expand_list_pids(struct arena *a, const int *pids, size_t n, const char *between);
/** More than one process is traced, or may be. */
bool expand_has_several(const struct expand_request *req);
/**
 * The report once the probes are attached: "attached to 6 processes of postgres (20814, 20815, ...), and
 * those they fork". @has_end: the trace ends with its process. @note: of the build, or NULL.
 */
const char *expand_attached_to(struct arena *a, const struct expand_request *req,
			       const struct expansion *x, bool has_end, const char *note);
/** When no --for was given: the version of the bpftrace that is installed, else DIALECT_DEFAULT. */
void expand_choose_version(struct arena *a, struct diag *d, struct expand_request *req);

/** Makes the program; @ret must be closed also after a failure. */
bool expand_run(struct arena *a, struct diag *d, const struct expand_request *req,
		struct expansion *ret);
/** The same without a text, of the program that bpftrace.sh would run: what it prints is decoded, and so right. */
bool expand_as_run(struct arena *a, struct diag *d, const struct expand_request *req,
		   struct expansion *ret);
/**
 * Its first attach point that fires for every process, because none is traced; or NULL. @also_filtered:
 * also of a clause that distinguishes processes itself.
 */
const struct script_attach *expand_find_global(const struct expansion *x, bool also_filtered);
/**
 * With -x there is no process that events of the kernel could be those of: an error where it is to run. Else it
 * may be meant for a PID.
 */
bool expand_check_reach(struct diag *d, const struct expand_request *req, const struct expansion *x,
			enum diag_level level);
void expand_close(struct expansion *x);

/** Directory of btgen's own scripts (bpf/ of the checkout, or share/btgen/bpf of the installation), or NULL. */
const char *expand_script_dir(struct arena *a);
/** The list of documented probes there (probes.conf); NULL when there is none, or, with an error, it is wrong. */
struct probesigs *expand_signatures(struct arena *a, struct diag *d);
