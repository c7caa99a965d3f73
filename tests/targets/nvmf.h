/**
 * nvmf - an NVMe over Fabrics target without a network: subsystems, poll groups, hosts that connect.
 *
 * The target, its subsystems and its controllers belong to the first light thread. Every core has one
 * poll group on a light thread of its own; a subsystem changes its state on all of them, one after the
 * other, and only then has changed. Queue pairs belong to their poll group.
 *
 * An operation ends by calling its `op_done` on the first thread; one runs at a time.
 */
#ifndef NVMF_H
#define NVMF_H

#include "bdev.h"

#define NVMF_NAME_MAX 224 // an NQN is up to 223 characters
#define NVMF_NS_MAX 32

enum nvmf_tgt_state {
	NVMF_TGT_INIT_NONE = 0,
	NVMF_TGT_INIT_CREATE_TARGET,
	NVMF_TGT_INIT_CREATE_POLL_GROUPS,
	NVMF_TGT_INIT_START_SUBSYSTEMS,
	NVMF_TGT_RUNNING,
	NVMF_TGT_FINI_STOP_SUBSYSTEMS,
	NVMF_TGT_FINI_STOP_LISTEN,
	NVMF_TGT_FINI_DESTROY_SUBSYSTEMS,
	NVMF_TGT_FINI_DESTROY_POLL_GROUPS,
	NVMF_TGT_FINI_DESTROY_TARGET,
	NVMF_TGT_STOPPED,
	NVMF_TGT_ERROR,
};

enum spdk_nvmf_subsystem_state {
	SPDK_NVMF_SUBSYSTEM_INACTIVE = 0,
	SPDK_NVMF_SUBSYSTEM_ACTIVATING,
	SPDK_NVMF_SUBSYSTEM_ACTIVE,
	SPDK_NVMF_SUBSYSTEM_PAUSING,
	SPDK_NVMF_SUBSYSTEM_PAUSED,
	SPDK_NVMF_SUBSYSTEM_RESUMING,
	SPDK_NVMF_SUBSYSTEM_DEACTIVATING,
	SPDK_NVMF_SUBSYSTEM_NUM_STATES,
};

// From the NVMe over Fabrics specification's transport type field (TRTYPE), and SPDK's own from 256 on.
enum spdk_nvme_transport_type {
	SPDK_NVME_TRANSPORT_PCIE = 256,
	SPDK_NVME_TRANSPORT_RDMA = 0x1,
	SPDK_NVME_TRANSPORT_FC = 0x2,
	SPDK_NVME_TRANSPORT_TCP = 0x3,
	SPDK_NVME_TRANSPORT_VFIOUSER = 1024,
	SPDK_NVME_TRANSPORT_CUSTOM = 4096,
	SPDK_NVME_TRANSPORT_CUSTOM_FABRICS = 4097,
};

enum spdk_nvmf_subtype {
	SPDK_NVMF_SUBTYPE_DISCOVERY_CURRENT = 3,
	SPDK_NVMF_SUBTYPE_NVME = 2,
	SPDK_NVMF_SUBTYPE_DISCOVERY = 1,
};

struct spdk_nvme_transport_id {
	enum spdk_nvme_transport_type trtype;
	char traddr[257];
	char trsvcid[33];
};

struct nvmf_host {
	struct nvmf_host *next;
	char nqn[NVMF_NAME_MAX];
};

struct nvmf_listener {
	struct nvmf_listener *next;
	struct spdk_nvme_transport_id trid;
};

struct spdk_nvmf_ns {
	uint32_t nsid;
	struct spdk_bdev *bdev;
	struct nvmf_host *hosts;
};

struct spdk_nvmf_tgt;
struct spdk_nvmf_ctrlr;

struct spdk_nvmf_subsystem {
	struct spdk_nvmf_subsystem *next;
	struct spdk_nvmf_tgt *tgt;
	char subnqn[NVMF_NAME_MAX];
	char sn[21];
	enum spdk_nvmf_subtype subtype;
	enum spdk_nvmf_subsystem_state state;
	bool allow_any_host;
	uint32_t max_nsid;
	struct nvmf_host *hosts;
	struct nvmf_listener *listeners;
	struct spdk_nvmf_ns *ns[NVMF_NS_MAX + 1]; // by nsid, which counts from 1
	struct spdk_nvmf_ctrlr *ctrlrs;
	uint16_t last_cntlid;
	op_done destroyed; // who waits for its last controller to be gone
	void *destroyed_ctx;
};

struct spdk_nvmf_transport {
	struct spdk_nvmf_transport *next;
	enum spdk_nvme_transport_type type;
};

struct spdk_nvmf_tgt {
	char name[32];
	struct spdk_nvmf_tgt *next; // of nvmf_create_target
	struct spdk_nvmf_transport *transports;
	struct spdk_nvmf_subsystem *subsystems;
	bool is_paused;
};

// Belongs to its poll group's thread.
struct spdk_nvmf_qpair {
	struct spdk_nvmf_qpair *next; // of its poll group's
	struct spdk_nvmf_ctrlr *ctrlr;
	struct nvmf_conn *conn; // the host's end
	uint16_t qid;		// 0 before the CONNECT command
	struct spdk_thread *thread;
	bool is_connecting, is_disconnected;
};

// A host's end of a queue pair. Belongs to the first thread, which frees it after `closed`.
struct nvmf_conn {
	struct nvmf_conn *next;
	uint64_t id;
	char hostnqn[NVMF_NAME_MAX], subnqn[NVMF_NAME_MAX];
	struct spdk_nvme_transport_id trid;
	uint16_t qid, cntlid; // cntlid: of the admin queue pair's controller
	struct spdk_thread *thread;
	bool is_connected, is_closing;
	struct spdk_nvmf_ctrlr *ctrlr;				   // the target's, at the end
	void (*connected)(struct nvmf_conn *conn);		   // may be NULL
	void (*closed)(struct nvmf_conn *conn, const char *error); // error: never was connected
	void *ctx;
};

// Which queue pairs; what is NULL or "" is every one.
struct nvmf_qpair_filter {
	struct spdk_nvmf_subsystem *subsystem;
	const struct spdk_nvme_transport_id *trid;
	const char *hostnqn;
};

// What a poll group knows of one subsystem.
struct nvmf_sgroup {
	struct nvmf_sgroup *next;
	struct spdk_nvmf_subsystem *subsystem;
	enum spdk_nvmf_subsystem_state state;
	struct spdk_io_channel *ns_ch[NVMF_NS_MAX + 1];
};

// The target's I/O channel.
struct spdk_nvmf_poll_group {
	struct spdk_thread *thread;
	struct spdk_nvmf_tgt *tgt;
	struct nvmf_sgroup *sgroups;
	struct spdk_nvmf_qpair *qpairs;
	struct spdk_poller *poller;
};

/* target.c */

/** Microseconds that a step of a state change takes. */
extern unsigned nvmf_delay_us;
void nvmf_delay(void);

/** Runs the state machine from NONE to RUNNING. */
void nvmf_tgt_start(op_done done, void *ctx);
/** From RUNNING to STOPPED. */
void nvmf_tgt_stop(op_done done, void *ctx);
struct spdk_nvmf_tgt *nvmf_tgt_get(void);
struct spdk_thread *nvmf_tgt_get_thread(void);
/** The next poll group's thread, round robin. */
struct spdk_thread *nvmf_tgt_next_group(void);

void nvmf_create_transport(const char *trtype, op_done done, void *ctx);
void nvmf_tgt_pause_polling(op_done done, void *ctx);
void nvmf_tgt_resume_polling(op_done done, void *ctx);
bool nvmf_parse_trtype(const char *name, enum spdk_nvme_transport_type *ret);

/* poll_group.c: on a poll group's own thread */

int nvmf_poll_group_create_cb(void *io_device, void *ctx);
void nvmf_poll_group_destroy_cb(void *io_device, void *ctx);
struct spdk_nvmf_poll_group *nvmf_poll_group_here(void);
void nvmf_poll_group_set_polling(struct spdk_nvmf_poll_group *group, bool on);
void nvmf_transport_poll_group_create(struct spdk_nvmf_transport *transport);
/** Takes the subsystem's @state over; false if it cannot. */
bool nvmf_poll_group_set_state(struct spdk_nvmf_poll_group *group,
			       struct spdk_nvmf_subsystem *subsystem,
			       enum spdk_nvmf_subsystem_state state);
/** Fires the probe of a subsystem that became active here, which comes after that of the change of state. */
void nvmf_poll_group_added_subsystem(struct spdk_nvmf_subsystem *subsystem);
void nvmf_poll_group_add(struct spdk_nvmf_poll_group *group, struct spdk_nvmf_qpair *qpair);
/** Disconnects the queue pair and takes it out of the group; one that is connecting: as soon as it has. */
void spdk_nvmf_qpair_disconnect(struct spdk_nvmf_qpair *qpair);
/** The CONNECT command is answered. */
void nvmf_qpair_connected(struct spdk_nvmf_qpair *qpair);
void nvmf_poll_group_destroy_qpairs(struct spdk_nvmf_poll_group *group);
/** On every poll group, one after the other; @filter stays the caller's until @done. */
void nvmf_disconnect_qpairs(const struct nvmf_qpair_filter *filter, op_done done, void *ctx);

/* subsystem.c */

/** NULL: that which the program starts with. */
struct spdk_nvmf_tgt *nvmf_tgt_find(const char *name);
/** Another one, whose subsystems no poll group serves. */
void nvmf_create_target(const char *name, op_done done, void *ctx);
struct spdk_nvmf_subsystem *nvmf_subsystem_find(const char *subnqn);
/** NULL if there is one of that name. */
struct spdk_nvmf_subsystem *nvmf_subsystem_create(struct spdk_nvmf_tgt *tgt, const char *subnqn,
						  enum spdk_nvmf_subtype subtype);
/** Frees it, as soon as it has no controllers any more. */
void nvmf_subsystem_destroy(struct spdk_nvmf_subsystem *subsystem, op_done done, void *ctx);
/** The end of nvmf_subsystem_destroy(), when a controller is gone. */
void nvmf_subsystem_ctrlr_gone(struct spdk_nvmf_subsystem *subsystem);
void nvmf_subsystem_set_state(struct spdk_nvmf_subsystem *subsystem,
			      enum spdk_nvmf_subsystem_state requested, op_done done, void *ctx);

/** The change to PAUSED, for @nsid, whose I/O has to end first (0: none); @cb_fn is what is to be done then. */
TRACED void spdk_nvmf_subsystem_pause(struct spdk_nvmf_subsystem *subsystem, uint32_t nsid,
				      op_done cb_fn, void *cb_arg);

/* subsystem_ops.c: what the commands do to a subsystem */

void nvmf_op_create_subsystem(const char *subnqn, const char *tgt, const char *sn, bool any_host,
			      uint32_t max_ns, op_done done, void *ctx);
void nvmf_op_delete_subsystem(const char *subnqn, op_done done, void *ctx);
void nvmf_op_add_listener(const char *subnqn, const char *trtype, const char *traddr,
			  const char *trsvcid, op_done done, void *ctx);
void nvmf_op_remove_listener(const char *subnqn, const char *trtype, const char *traddr,
			     const char *trsvcid, op_done done, void *ctx);
void nvmf_op_add_ns(const char *subnqn, const char *bdev, uint32_t nsid, op_done done, void *ctx);
void nvmf_op_remove_ns(const char *subnqn, uint32_t nsid, op_done done, void *ctx);
void nvmf_op_add_host(const char *subnqn, const char *hostnqn, op_done done, void *ctx);
void nvmf_op_remove_host(const char *subnqn, const char *hostnqn, op_done done, void *ctx);
void nvmf_op_ns_host(const char *subnqn, uint32_t nsid, const char *hostnqn, bool add, op_done done,
		     void *ctx);

/* ctrlr.c: hosts that are connected */

/** A copy of @conn is opened, from any thread; its id. */
uint64_t nvmf_conn_open(const struct nvmf_conn *conn);
/** From any thread; one that is closed already is none to be told of. */
void nvmf_conn_close(uint64_t id);
/** A queue pair is gone; on its thread. The last one of @ctrlr (which may be NULL) takes the controller with it. The host
 * is told when the target has nothing of it any more. */
void nvmf_qpair_fini_complete(struct spdk_nvmf_ctrlr *ctrlr, struct nvmf_conn *conn);

/** A host with one admin queue pair and @io_qpairs more. */
void nvmf_op_connect(const char *hostnqn, const char *subnqn, unsigned io_qpairs, op_done done,
		     void *ctx);
/** Ends the host's connections to @subnqn (NULL: to any): those for I/O in reverse, then the admin queue. */
void nvmf_op_disconnect(const char *hostnqn, const char *subnqn, op_done done, void *ctx);

#endif
