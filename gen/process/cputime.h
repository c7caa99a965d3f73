/** cputime - how long the threads of a process have run, and waited for a processor. */
#ifndef PROCESS_CPUTIME_H
#define PROCESS_CPUTIME_H

#include <stdbool.h>
#include <stdint.h>

struct cputime {
	uint64_t ran;	 /**< ns, of all threads, also of those that have exited */
	uint64_t waited; /**< ns, runnable but not running; of the threads that exist */
};

/** False: the process is gone. */
bool cputime_read(int pid, struct cputime *ret);

#endif
