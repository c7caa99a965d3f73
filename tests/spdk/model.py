"""What SPDK does when an RPC is sent to it: the probes that fire, with their arguments, in words of SPDK's documents and
of a record of a real run.

An event is (key, probe, arguments). Events of one key come in their order; those of different keys may mix, for other
threads do them. Arguments are the probe's own, from arg1 on: numbers, strings, and Ptr for an address that nobody can
know, of which only is certain where it comes again.
"""

INACTIVE, ACTIVE, PAUSED = 0, 2, 4
TCP = 3


class Ptr(str):
    """The name of an address."""


class Thread(int):
    """The id of an SPDK thread: 2 in text, 0x2 where a script prints it as an address."""


class OneOf(str):
    """A thread that is the target's choice and is gone before one can ask."""


def settle(events, choice):
    """@events with the threads of @choice in the place of OneOf."""
    return [(key, probe, tuple(choice.get(arg, arg) if isinstance(arg, OneOf) else arg for arg in args))
            for key, probe, args in events]


class Target:
    """The nvmf target: which poll groups it has is SPDK's own answer (thread_get_stats)."""

    def __init__(self, name, threads, destruct_names=False):
        """@destruct_names: nvmf_ctrlr_destruct has the subsystem's name, as up to 26.05."""
        self.name, self.threads, self.destruct_names = name, [Thread(t) for t in threads], destruct_names
        self.n = 0
        self.events = []

    def fire(self, key, probe, *args):
        self.events.append((key, probe, args))

    def new(self, kind):
        self.n += 1
        return Ptr(f"{kind}{self.n}")

    def create_transport(self):
        transport = self.new("transport")
        self.fire("tgt", "nvmf_tgt_add_transport", transport, self.name)
        for thread in self.threads:
            self.fire("tgt", "nvmf_transport_poll_group_create", transport, thread)

    def change_state(self, nqn, to, of, then=lambda thread: None):
        self.fire("tgt", "nvmf_subsystem_change_state", nqn, to, of)
        for thread in self.threads:
            self.fire("tgt", "nvmf_pg_change_state", nqn, to, thread)
            if to == INACTIVE:
                then(thread)
            self.fire("tgt", "nvmf_pg_change_state_done", nqn, to, thread)
            if to != INACTIVE:
                then(thread)
        self.fire("tgt", "nvmf_subsystem_change_state_done", nqn, to, of, 0)

    def paused(self, nqn, probe=None, *args, nsid=0):
        """Subsystems are paused while something of theirs changes; that of @nsid has to end its I/O first."""
        self.fire("tgt", "subsystem_pause()", nqn, nsid)
        self.change_state(nqn, PAUSED, ACTIVE)
        if probe:
            self.fire("tgt", probe, nqn, *args)
        self.change_state(nqn, ACTIVE, PAUSED)

    def create_subsystem(self, nqn):
        """A thread is through with the change of state, and the next one begins, before its poll group says so."""
        self.fire("tgt", "nvmf_subsystem_create", nqn)
        self.fire("tgt", "subsystem_set_allow_any_host()", nqn, 1)
        self.change_state(nqn, ACTIVE, INACTIVE,
                          lambda thread: self.fire(thread, "nvmf_poll_group_add_subsystem", thread, nqn))

    def delete_subsystem(self, nqn):
        groups = {thread: self.new("group") for thread in self.threads}
        self.change_state(nqn, INACTIVE, ACTIVE, lambda thread: self.fire(
            "tgt", "nvmf_poll_group_remove_subsystem", groups[thread], thread, nqn))
        self.fire("tgt", "nvmf_subsystem_destroy", nqn)

    def change_listener(self, what, nqn, address, port):
        self.paused(nqn, f"nvmf_subsystem_{what}_listener", TCP, address, port)

    def connect(self, nqn, host, thread):
        """A host's controller with its admin queue pair."""
        qpair = self.new("qpair")
        ctrlr = self.new("ctrlr")
        self.fire(qpair, "nvmf_transport_poll_group_add", qpair, 0, thread)
        self.fire(qpair, "nvmf_poll_group_add_qpair", qpair, thread)
        self.fire(qpair, "nvmf_ctrlr_create", ctrlr, nqn, thread)
        self.fire(qpair, "nvmf_subsystem_add_ctrlr", nqn, ctrlr, host)
        self.fire(qpair, "nvmf_ctrlr_add_qpair", qpair, 0, nqn, host)
        return qpair, ctrlr, thread

    def io_qpair(self, ctrlr, nqn, host, thread, admin_thread):
        """One that comes and goes: the initiator reads what is on the new disk. Its id is not known before CONNECT."""
        qpair = self.new("qpair")
        self.fire(qpair, "nvmf_transport_poll_group_add", qpair, 0, thread)
        self.fire(qpair, "nvmf_poll_group_add_qpair", qpair, thread)
        self.fire(qpair, "nvmf_ctrlr_add_io_qpair", ctrlr, qpair, 1, admin_thread)
        self.fire(qpair, "nvmf_ctrlr_add_qpair", qpair, 1, nqn, host)
        self.fire(qpair, "nvmf_qpair_disconnect", qpair, thread)
        self.fire(qpair, "nvmf_poll_group_remove_qpair", qpair, thread)
        self.fire(qpair, "nvmf_transport_poll_group_remove", qpair, 1, thread)
        self.fire(qpair, "nvmf_transport_qpair_fini", qpair)

    def disconnect(self, connection, nqn, host):
        qpair, ctrlr, thread = connection
        self.fire(qpair, "nvmf_qpair_disconnect", qpair, thread)
        self.fire(qpair, "nvmf_poll_group_drain_qpair", qpair, thread)
        self.fire(qpair, "nvmf_poll_group_remove_qpair", qpair, thread)
        self.fire(qpair, "nvmf_transport_poll_group_remove", qpair, 0, thread)
        self.fire(qpair, "nvmf_transport_qpair_fini", qpair)
        self.fire(ctrlr, "nvmf_subsystem_remove_ctrlr", nqn, ctrlr, host)
        self.fire(ctrlr, "nvmf_ctrlr_destruct", ctrlr, *[nqn][:self.destruct_names], thread)


class Initiator:
    """The NVMe block devices of the process that connects. When they let go of a reference is SPDK's own choice, another with each
    release: bdev_nvme_ctrlr_release is not here."""

    def __init__(self, thread):
        self.thread = Thread(thread)
        self.events = []

    def fire(self, probe, *args):
        self.events.append(("nvme", probe, args))

    def attach(self, name):
        self.fire("bdev_nvme_create_qpair", name, 1, self.thread)

    def attempt(self, name):
        self.fire("bdev_nvme_ctrlr_reconnect", name)

    def reset(self, name):
        self.fire("bdev_nvme_ctrlr_reset", name)
        self.attempt(name)

    def lose(self, name, failures):
        """@failures attempts, each but the first after a wait; then the controller is given up."""
        self.reset(name)
        for _ in range(failures - 1):
            self.fire("bdev_nvme_ctrlr_reconnect_delay", name)
            self.attempt(name)
        self.detach(name)

    def detach(self, name):
        self.fire("bdev_nvme_destruct", name, 1)
        self.fire("bdev_nvme_ctrlr_delete", name)
