/**
 * cgroup - the processes of a control group, as those of a service or a container.
 *
 * A group of the second version's hierarchy (cgroups(7)) is a directory, in a file system that most
 * systems have at /sys/fs/cgroup; the kernel knows it by the number of the directory's inode.
 */
#pragma once

#include "base/diag.h"

struct cgroup {
	const char *path;  /**< the directory */
	VEC(uint64_t) ids; /**< of the group and those below it, for bpf_get_current_cgroup_id() */
	VEC(int) pids;	   /**< of their processes */
};

/**
 * Reads group @name: a directory, or its path below /sys/fs/cgroup. False with an error where there is
 * none of the second version.
 */
bool cgroup_read(struct arena *a, struct diag *d, const char *name, struct cgroup *ret);
