/**
 * rpc - commands, one per line, from stdin or from whoever connects to a UNIX socket.
 *
 * Each is answered by one line, `ok` or `error: what is wrong`, when it is done; `help` prints some more
 * before its `ok`. One command runs at a time. Everything runs on the first light thread.
 */
#ifndef RPC_H
#define RPC_H

#include <stdbool.h>

/** @path NULL: stdin and stdout. Blocks SIGINT and SIGTERM, which end the target like `quit`. */
bool rpc_open(const char *path);
/** The gate: before any thread runs, answers errors until `start`. False: end, without starting. */
bool rpc_wait_for_start(void);
/** From here on commands are run. */
void rpc_start(void);
void rpc_fini(void);

/** Ends the answer to the command that runs. */
void rpc_done(void *ctx, const char *error);
/** Ends the target; calls rpc_done() (main.c). */
void spdk_app_stop(void);

#endif
