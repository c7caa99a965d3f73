/** commands - the subcommands of btgen, each in its cmd_NAME.c, `expand` in cmd_skeleton.c; argv[0] is the command's name. */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

int cmd_bundle(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_enums(int argc, char **argv);
int cmd_expand(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_skeleton(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_types(int argc, char **argv);

#endif
