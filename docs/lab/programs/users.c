// users NAME...: looks each name up in the system's list of users.
#include <btgen/usdt.h>
#include <pwd.h>

USDT_DOC(users, found, "a name was looked up, and there is such a user");

static int look_up(const char *name)
{
	struct passwd *user = getpwnam(name);
	if (!user)
		return 1; // nobody of that name
	USDT_PROBE(users, found, USDT_ARG(user->pw_name, "login"), USDT_ARG(user->pw_dir, "home"), user->pw_uid);
	return 0;
}

int main(int argc, char **argv)
{
	int unknown = 0;
	for (int i = 1; i < argc; i++)
		unknown += look_up(argv[i]);
	return unknown != 0;
}
