// Sends one command through the driver's ioctl: any opcode, with a buffer, and says what came of it.
//
//	nvmecmd admin|io DEVICE OPCODE NSID CDW10 CDW11 CDW12 BYTES [in]
//
// `in`: the buffer goes to the controller (zeroes). Numbers in C's notation. Prints the status, as the kernel has it
// (-errno when it could not be sent). linux/nvme_ioctl.h.
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
	if (argc < 9) {
		fprintf(
		    stderr,
		    "usage: nvmecmd admin|io DEVICE OPCODE NSID CDW10 CDW11 CDW12 BYTES [in]\n");
		return 2;
	}
	int fd = open(argv[2], O_RDWR);
	if (fd < 0) {
		perror(argv[2]);
		return 2;
	}
	size_t bytes = strtoul(argv[8], NULL, 0);
	void *buffer = bytes ? aligned_alloc(4096, (bytes + 4095) & ~4095ul) : NULL;
	if (buffer)
		memset(buffer, 0, bytes);
	struct nvme_passthru_cmd cmd = {
	    .opcode = (unsigned char)strtoul(argv[3], NULL, 0),
	    .nsid = (unsigned)strtoul(argv[4], NULL, 0),
	    .addr = (unsigned long)buffer,
	    .data_len = (unsigned)bytes,
	    .cdw10 = (unsigned)strtoul(argv[5], NULL, 0),
	    .cdw11 = (unsigned)strtoul(argv[6], NULL, 0),
	    .cdw12 = (unsigned)strtoul(argv[7], NULL, 0),
	    .timeout_ms = 60000,
	};
	int rc = ioctl(fd, argv[1][0] == 'a' ? NVME_IOCTL_ADMIN_CMD : NVME_IOCTL_IO_CMD, &cmd);
	printf("%s %s %#x: status %d\n", argv[1], argv[2], cmd.opcode, rc < 0 ? -errno : rc);
	return 0;
}
