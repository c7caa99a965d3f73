#include "kernel/bpfobject.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "process/proc.h"

static const struct {
	const char *key;	  // in /proc/pid/fdinfo/fd, proc(5)
	int (*open)(uint32_t id); // needs CAP_SYS_ADMIN
} kinds[] = {
    [BPFOBJECT_MAP] = {"\nmap_id:", bpf_map_get_fd_by_id},
    [BPFOBJECT_PROGRAM] = {"\nprog_id:", bpf_prog_get_fd_by_id},
};

/** The kernel's number of the object that is the descriptor @name in @dir; 0: it is none of @key. */
static uint32_t read_id(int dir, const char *name, const char *key)
{
	char text[1024];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, key);
	// A link has its program's number, too.
	return at && !strstr(text, "link_id:") ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0;
}

/** The object with this number, which is the descriptor @name of @pid. */
static int open_object(pid_t pid, enum bpfobject kind, uint32_t id, const char *name)
{
	int fd = kinds[kind].open(id);
	int process = fd < 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (process >= 0) {
		fd = (int)syscall(SYS_pidfd_getfd, process, atoi(name), 0);
		close(process);
	}
	return fd;
}

int bpfobject_walk(pid_t pid, enum bpfobject kind, bpfobject_fn *fn, void *ctx)
{
	int directory = proc_open_file(PROCFS, pid, "fdinfo");
	DIR *dir = directory < 0 ? NULL : fdopendir(directory);
	int error = dir ? 0 : errno;
	bool goes_on = dir != NULL;
	for (struct dirent *e; goes_on && (e = readdir(dir));) {
		uint32_t id = read_id(dirfd(dir), e->d_name, kinds[kind].key);
		int fd = id ? open_object(pid, kind, id, e->d_name) : -1;
		if (fd >= 0)
			goes_on = fn(ctx, fd);
		else if (id)
			error = errno;
	}
	if (dir)
		closedir(dir);
	return error;
}
