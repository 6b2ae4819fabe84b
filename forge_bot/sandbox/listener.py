"""A small process that opens a listening socket inside another process's network namespace.

It sends the socket to its parent. It runs as a separate script (`python -I -S listener.py PID FD
PORT`) and uses only the standard library: setns(2) lets a process enter a user namespace only while
it has one thread. The socket belongs to the namespace in which it was made. The process that
accepts on it stays in its own.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import sys

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_IP_FREEBIND = 15
_OWNER = 0xB701
"""NS_GET_USERNS of ioctl_ns(2): the user namespace that a namespace belongs to."""


def main() -> None:
    """Enter the namespaces of PID, listen on 127.0.0.1:PORT, and send the socket through FD."""
    pid, line, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    libc = ctypes.CDLL(None, use_errno=True)
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    # For an ordinary user bwrap makes two user namespaces, one in the other: the process is in the
    # inner one, its network belongs to the outer one. Where the box has none of its own, entering
    # is refused, and not needed.
    libc.setns(fcntl.ioctl(network, _OWNER), _NEW_USER)
    if libc.setns(network, _NEW_NETWORK) != 0:
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
