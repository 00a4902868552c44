"""Who says a line in logs of machines and schedulers, where people paste other things among them."""

from __future__ import annotations

from forms import entries_of

from analyzer.model import JobKey, Origin

KERNEL = "May 18 04:11:02 gpu-h100-17 kernel: NVRM: Xid (PCI:0000:dc:00): 149, pid=18, name=python3, NVLink: fatal\n"


def test_a_processs_own_output_among_a_machines_lines_is_its_own() -> None:
    """What a launcher labelled with a rank the kernel did not say; the machine is the same."""
    entries = entries_of(2 * KERNEL + "[rank5]: RuntimeError: CUDA error: unspecified launch failure\n", "dmesg.txt")
    assert [(entry.origin, entry.node) for entry in entries] == [
        (Origin.NODE, "gpu-h100-17"), (Origin.NODE, "gpu-h100-17"), (Origin.TEXT, "gpu-h100-17")
    ]  # fmt: skip


def test_squeues_rows_name_the_job() -> None:
    """A list of one job is about it; one of several is about none."""
    header = "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n"
    row = "{} a3h cpt tova PD 0:00 4 (launch failed requeued held)\n"
    assert {entry.job for entry in entries_of(header + row.format(90211), "q.txt")} == {JobKey("slurm", "", "90211")}
    several = entries_of(header + row.format(90211) + row.format(90212), "q.txt")
    assert {entry.job for entry in several} == {None}


def test_a_prompt_names_the_machine_below_it() -> None:
    """A console's copy: `ssh HOST dmesg`, or the prompt of that machine; a line with a host of its own keeps that."""
    line = "[Fri Jan 30 01:11:{:02d} 2026] NVRM: Xid (PCI:0000:b7:00): 62, pid=31207, name=python\n"
    text = "# ssh gpu-4 'dmesg -T'\n" + 3 * line.format(7) + "[root@gpu-5 ~]# dmesg -T\n" + line.format(9) + KERNEL
    nodes = [entry.node for entry in entries_of(text, "dmesg.txt") if "NVRM" in entry.text]
    assert nodes == ["gpu-4", "gpu-4", "gpu-4", "gpu-5", "gpu-h100-17"]
