#include "cmd.h"

int cmd_expand(int argc, char **argv)
{
	(void)argc;
	return cmd_usage_error(argv[0], "not built yet");
}
