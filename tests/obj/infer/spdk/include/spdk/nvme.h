/* Of SPDK's shape: controllers and their queue pairs. */
#ifndef SPDK_NVME_H
#define SPDK_NVME_H
#include <stdbool.h>
#include <stdint.h>

enum spdk_nvme_transport_type { SPDK_NVME_TRANSPORT_PCIE = 256, SPDK_NVME_TRANSPORT_RDMA = 1, SPDK_NVME_TRANSPORT_TCP = 3 };

struct spdk_nvme_transport_id {
	char trstring[33];
	enum spdk_nvme_transport_type trtype;
	char traddr[257];
	char trsvcid[33];
};

struct spdk_nvme_qpair;
uint16_t spdk_nvme_qpair_get_id(struct spdk_nvme_qpair *qpair);

#endif
