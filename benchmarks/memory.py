"""
Peak memory of one call, measured in a separate process.

The harness starts this file once per contestant and case. The child loads the points from a file, warms the
library up on a tiny cloud (imports, thread pools), notes its resident memory, resets the kernel's
high-water mark (``/proc/self/clear_refs``), makes the call, keeps the result and reads the mark ``VmHWM``.
The difference is the peak memory of the call: index, scratch and result. ``ru_maxrss`` would
not do on Linux, where a child inherits the mark of its parent across fork and exec; it is the fallback
without /proc.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SHARE_OF_FREE_MEMORY = 0.7
SECONDS_BETWEEN_LOOKS = 0.02
WARM_UP_BODIES = 200


@dataclass(frozen=True)
class Footprint:
    """The measurement of the child, or the reason why it failed."""

    peak_bytes: int | None = None
    result_bytes: int | None = None
    seconds: float | None = None
    failure: str | None = None


def run_child(name: str, cloud: Any, task: str, threads: int, time_limit: float) -> Footprint:
    """Measure a contestant in a new process with limits on memory and time."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cloud.npz"
        np.savez(path, points=cloud.points, cutoff=cloud.cutoff, edge=cloud.edge, box=cloud.box or np.nan)
        command = [sys.executable, __file__, name, str(path), task, str(threads), str(time_limit)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            too_large = _watch(child)
            output, errors = child.communicate()
    if too_large:
        return Footprint(failure="too much memory")
    if child.returncode == 0:
        return Footprint(**json.loads(output.splitlines()[-1]))
    if child.returncode == -signal.SIGPROF:
        return Footprint(failure=f"too slow: more than {time_limit:g} s")
    if child.returncode < 0:
        return Footprint(failure=f"crashed with {signal.Signals(-child.returncode).name}")
    lines = errors.strip().splitlines()
    last = lines[-1] if lines else "failed"
    return Footprint(failure="too much memory" if "MemoryError" in last else last[:120])


def _watch(child: subprocess.Popen[str]) -> bool:
    """
    Wait for a child; end it and return True when it takes most of the free memory.

    The limit is on resident memory. A limit on the address space (RLIMIT_AS) would also stop libraries that reserve a
    large range and use little of it.
    """
    most = SHARE_OF_FREE_MEMORY * _free_memory()
    while child.poll() is None:
        if _resident(child.pid) > most:
            child.kill()
            child.wait()
            return True
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return False


def _free_memory() -> float:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return float("inf")


def _resident(process: int) -> int:
    """Resident bytes of another process; 0 if the system does not report them."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def measure(name: str, path: Path, task: str, threads: int, time_limit: float) -> Footprint:
    """Measure, in the child process."""
    import numpy as np

    from measure import once
    from registry import contestant_named
    from vicinal.timing import RoundTimer
    from workloads import Cloud

    with np.load(path) as file:
        box = float(file["box"])
        cloud = Cloud(
            points=file["points"],
            cutoff=float(file["cutoff"]),
            edge=float(file["edge"]),
            box=None if np.isnan(box) else box,
        )
    contestant = contestant_named(name)
    few = Cloud(points=cloud.points[:WARM_UP_BODIES].copy(), cutoff=cloud.cutoff, edge=cloud.edge, box=cloud.box)
    contestant.prepare(few, task, threads)()
    call = contestant.prepare(cloud, task, threads)
    before = _start_watching()
    times = RoundTimer()
    # The default action of the signal ends the process even inside compiled code. CPU time of the call only, so that a
    # busy machine does not disqualify a contestant.
    signal.setitimer(signal.ITIMER_PROF, time_limit * threads)
    result = once(contestant, call, times)
    signal.setitimer(signal.ITIMER_PROF, 0)
    peak = _high_water() - before
    return Footprint(peak_bytes=max(peak, 0), result_bytes=array_bytes(result), seconds=times.best)


def array_bytes(result: Any) -> int | None:
    """Bytes of the arrays a result consists of; None if it holds anything else that is large."""
    if hasattr(result, "nbytes"):
        return None if result.dtype.hasobject else int(result.nbytes)
    if isinstance(result, tuple | list):
        parts = [array_bytes(part) for part in result] if len(result) < 10 else [None]
        return None if None in parts else sum(part for part in parts if part is not None)
    if hasattr(result, "offsets"):
        return int(result.offsets.nbytes + result.indices.nbytes)
    if hasattr(result, "indptr"):
        return int(result.indptr.nbytes + result.indices.nbytes + result.data.nbytes)
    return None


def _start_watching() -> int:
    """Reset the high-water mark if the system allows and return the memory in use now, in bytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return _high_water()
    return _status("VmRSS")


def _high_water() -> int:
    try:
        return _status("VmHWM")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    message = f"no {key} in /proc/self/status"
    raise OSError(message)


if __name__ == "__main__":
    own, file, asked, count, seconds = sys.argv[1:]
    print(json.dumps(asdict(measure(own, Path(file), asked, int(count), float(seconds)))))
