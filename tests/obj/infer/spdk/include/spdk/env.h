/* Of SPDK's shape: what the environment gives. */
#ifndef SPDK_ENV_H
#define SPDK_ENV_H
#include <stdint.h>

uint64_t spdk_get_ticks(void);
struct spdk_thread;
uint64_t spdk_thread_get_id(const struct spdk_thread *thread);

#endif
