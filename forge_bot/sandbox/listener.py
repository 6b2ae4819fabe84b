"""A small process that opens a listening socket inside another process's network namespace.

It sends the socket to its parent. It runs as a separate script (`python -I -S listener.py PID FD
PORT`) and uses only the standard library: setns(2) lets a process enter a user namespace only while
it has one thread. The socket belongs to the namespace in which it was made. The process that
accepts on it stays in its own.
"""

import contextlib
import ctypes
import os
import socket
import sys

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_IP_FREEBIND = 15


def main() -> None:
    """Enter the namespaces of PID, listen on 127.0.0.1:PORT, and send the socket through FD."""
    pid, line, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    libc = ctypes.CDLL(None, use_errno=True)
    namespaces = [
        (os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY), kind)
        for name, kind in (("user", _NEW_USER), ("net", _NEW_NETWORK))
    ]
    for number, (descriptor, kind) in enumerate(namespaces):
        if libc.setns(descriptor, kind) != 0 and number:
            # The first may be refused where the box has no user namespace of its own; only the
            # second is required.
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    server = socket.socket()
    with contextlib.suppress(OSError):
        # The loopback interface of the namespace may not be up yet.
        server.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    server.bind(("127.0.0.1", port))
    server.listen(128)
    socket.send_fds(socket.socket(fileno=line), [b"listener"], [server.fileno()])


if __name__ == "__main__":
    main()
