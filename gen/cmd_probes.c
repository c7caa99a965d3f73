#include "cmd.h"

int cmd_probes(int argc, char **argv)
{
	(void)argc;
	return cmd_usage_error(argv[0], "not built yet");
}
