"""What nvmf.bt and nvme.bt must print for a --log of nvmf_tgt, without the stamps.

    nvmf_lines.py LOG lines      the lines, in the order of the log
    nvmf_lines.py LOG count      each probe's name and how often it fired

The log has the values that the program passed, so this is the oracle for a trace of the same run.
"""
import collections
import sys

TARGET = """NONE CREATE_TARGET CREATE_POLL_GROUPS START_SUBSYSTEMS RUNNING
FINI_STOP_SUBSYSTEMS FINI_STOP_LISTEN FINI_DESTROY_SUBSYSTEMS FINI_DESTROY_POLL_GROUPS
FINI_DESTROY_TARGET STOPPED ERROR""".split()
SUBSYSTEM = "INACTIVE ACTIVATING ACTIVE PAUSING PAUSED RESUMING DEACTIVATING".split()
TRTYPE = {"1": "RDMA", "2": "FC", "3": "TCP"}


def state(number):
    return SUBSYSTEM[int(number)]


# The caller's arguments: a[1] is arg1.
NVMF = {
    "nvmf_tgt_state": lambda a: f"nvmf_tgt reached state {TARGET[int(a[1])]}",
    "nvmf_subsystem_create": lambda a: f"{a[1]} created",
    "nvmf_subsystem_destroy": lambda a: f"{a[1]} destroyed",
    "nvmf_subsystem_change_state":
        lambda a: f"{a[1]} is already {state(a[2])}" if a[2] == a[3] else
                  f"{a[1]} change state from {state(a[3])} to {state(a[2])} start",
    "nvmf_subsystem_change_state_done":
        lambda a: f"{a[1]} change state from {state(a[3])} to {state(a[2])} "
                  + ("done" if a[4] == "0" else f"failed with status {a[4]}"),
    "nvmf_pg_change_state": lambda a: f"{a[1]} on thread {a[3]} state to {state(a[2])} start",
    "nvmf_pg_change_state_done": lambda a: f"{a[1]} on thread {a[3]} state to {state(a[2])} done",
    "nvmf_subsystem_add_listener": lambda a: f"{a[1]} add listener {TRTYPE[a[2]]} {a[3]}:{a[4]}",
    "nvmf_subsystem_remove_listener":
        lambda a: f"{a[1]} remove listener {TRTYPE[a[2]]} {a[3]}:{a[4]}",
    "nvmf_subsystem_add_ns": lambda a: f"{a[1]} add namespace {a[2]}",
    "subsystem_pause()": lambda a: f"{a[0]} pause for namespace {a[1]}, then paused",
    "subsystem_remove_ns()": lambda a: f"{a[0]} remove namespace {a[1]}",
    "subsystem_set_allow_any_host()": lambda a: f"{a[0]} allow {'any host' if int(a[1]) else 'only its hosts'}",
    "nvmf_ns_change": lambda a: f"{a[2]} change namespace {a[1]}, tried again",
    "nvmf_subsystem_add_host": lambda a: f"{a[1]} add host {a[2]}",
    "nvmf_subsystem_remove_host": lambda a: f"{a[1]} remove host {a[2]}",
    "spdk_nvmf_ns_add_host":
        lambda a: f"{a[1]} namespace {a[2]} add host {a[3]}, flags {int(a[4]):#x}",
    "spdk_nvmf_ns_remove_host":
        lambda a: f"{a[1]} namespace {a[2]} remove host {a[3]}, flags {int(a[4]):#x}",
    "nvmf_tgt_add_transport": lambda a: f"{a[2]} add transport {a[1]}",
    "nvmf_tgt_pause_polling": lambda a: f"{a[2]} pause polling",
    "nvmf_tgt_resume_polling": lambda a: f"{a[2]} resume polling",
    "nvmf_create_poll_group": lambda a: f"poll group on thread {a[1]} created",
    "nvmf_destroy_poll_group": lambda a: f"poll group on thread {a[1]} destroyed",
    "nvmf_destroy_poll_group_qpairs": lambda a: f"poll group on thread {a[1]} ends its queue pairs",
    "nvmf_transport_poll_group_create":
        lambda a: f"poll group on thread {a[2]} serves transport {a[1]}",
    "nvmf_poll_group_add_subsystem": lambda a: f"poll group on thread {a[1]} add subsystem {a[2]}",
    "nvmf_poll_group_remove_subsystem":
        lambda a: f"poll group on thread {a[2]} remove subsystem {a[3]}",
    "nvmf_ctrlr_create": lambda a: f"controller {a[1]} of {a[2]} created on thread {a[3]}",
    "nvmf_ctrlr_destruct": lambda a: f"controller {a[1]} destructed on thread {a[-1]}",
    "nvmf_subsystem_add_ctrlr": lambda a: f"{a[1]} add controller {a[2]} of host {a[3]}",
    "nvmf_subsystem_remove_ctrlr": lambda a: f"{a[1]} remove controller {a[2]} of host {a[3]}",
    "nvmf_ctrlr_add_qpair": lambda a: f"{a[3]} queue pair {a[1]} has qid {a[2]} for host {a[4]}",
    "nvmf_ctrlr_add_io_qpair":
        lambda a: f"controller {a[1]} add queue pair {a[2]} with qid {a[3]} on thread {a[4]}",
    "nvmf_poll_group_add_qpair": lambda a: f"poll group on thread {a[2]} add queue pair {a[1]}",
    "nvmf_poll_group_remove_qpair": lambda a: f"poll group on thread {a[2]} remove queue pair {a[1]}",
    "nvmf_poll_group_drain_qpair": lambda a: f"poll group on thread {a[2]} drain queue pair {a[1]}",
    "nvmf_qpair_disconnect": lambda a: f"queue pair {a[1]} disconnect on thread {a[2]}",
    "nvmf_transport_poll_group_add":
        lambda a: f"transport on thread {a[3]} add queue pair {a[1]} with qid {a[2]}",
    "nvmf_transport_poll_group_remove":
        lambda a: f"transport on thread {a[3]} remove queue pair {a[1]} with qid {a[2]}",
    "nvmf_transport_qpair_fini": lambda a: f"queue pair {a[1]} is gone",
}
NVME = {
    "bdev_nvme_create_qpair": lambda a: f"{a[1]} create queue pair {a[2]}",
    "bdev_nvme_destroy_qpair": lambda a: f"{a[1]} destroy queue pair {a[2]}",
    "bdev_nvme_ctrlr_reset": lambda a: f"{a[1]} reset: its queue pairs are gone",
    "bdev_nvme_ctrlr_reconnect": lambda a: f"{a[1]} connect again",
    "bdev_nvme_ctrlr_reconnect_delay": lambda a: f"{a[1]} has waited after a failed attempt",
    "bdev_nvme_destruct": lambda a: f"{a[1]} disk of namespace {a[2]} removed",
    "bdev_nvme_ctrlr_release": lambda a: f"{a[1]} release, {a[2]} references held",
    "bdev_nvme_ctrlr_delete": lambda a: f"{a[1]} deleted",
}


def main():
    what = sys.argv[2]
    count = collections.Counter()
    lines = {**NVMF, **NVME} if what == "lines" else {}
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            _, _, name, *args = line.rstrip("\n").split("\t")
            count[name] += 1
            if name == "nvmf_request_io_exec_path":  # a count, no line
                continue
            if name in lines:
                print(lines[name](args))
            elif lines and "nvm" in name and not name.endswith("()"):
                sys.exit(f"nvmf_lines.py: what do the scripts print for {name}?")
    if what == "count":
        for name in sorted(count):
            if not name.endswith("()"): # a function, not a probe
                print(name, count[name])


if __name__ == "__main__":
    main()
