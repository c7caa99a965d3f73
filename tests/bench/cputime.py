"""What a process has used of the processors, for the rows of bench."""
import os


def cpu(pid):
    """Seconds that a process and its children have run so far."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0]) / 1e9
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
            total += sum(cpu(child) for child in f.read().split())
    return total
