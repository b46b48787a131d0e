# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Proof of which kernels ran: the device's own log."""

from collections import Counter

from wavetile.device.library import Library


def launched(library: Library, target: str) -> Counter[str]:
    """How often each kernel ran since the log was cleared; all of them well, and on `target`."""
    launches = library.launch_log()
    for launch in launches:
        assert launch["result"] == "hipSuccess", launch
        assert launch["target"] == target, launch
        assert sum(launch["instructions"].values()) > 0, launch
    return Counter(launch["kernel"] for launch in launches)
