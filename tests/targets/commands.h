/** commands - the table of commands: their words, their options, what they call. */
#ifndef COMMANDS_H
#define COMMANDS_H

#define COMMAND_ARGS_MAX 32

/** Cuts @line into words, in place; how many. */
int command_split(char *line, char **argv);
/** Starts a command; its end is rpc_done(). @out gets what it prints besides. */
void command_run(int argc, char **argv, int out);

#endif
