"""The system calls that project commands use, with their numbers on x86_64 and aarch64.

A `-` means that the processor does not have the call. A call that is not listed is refused. Source:
the kernel's arch/x86/entry/syscalls/syscall_64.tbl and scripts/syscall.tbl.
"""

import re

_COLUMNS = {"x86_64": 1, "aarch64": 2}
_ROW = re.compile(r"(\w+) (\d+) (\d+|-)")

# Files and folders. Mounts or Landlock decide what may be opened, written or removed.
FILES = """
read 0 63, write 1 64, open 2 -, close 3 57, stat 4 -, fstat 5 80, lstat 6 -, poll 7 -,
lseek 8 62, pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, access 21 -, pipe 22 -,
select 23 -, dup 32 23, dup2 33 -, sendfile 40 71, fcntl 72 25, flock 73 32, fsync 74 82,
fdatasync 75 83, truncate 76 45, ftruncate 77 46, getdents 78 -, getcwd 79 17, chdir 80 49,
fchdir 81 50, rename 82 -, mkdir 83 -, rmdir 84 -, creat 85 -, link 86 -, unlink 87 -,
symlink 88 -, readlink 89 -, chmod 90 -, fchmod 91 52, chown 92 -, fchown 93 55, lchown 94 -,
umask 95 166, utime 132 -, mknod 133 -, statfs 137 43, fstatfs 138 44, sync 162 81,
readahead 187 213, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, getxattr 191 8,
lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13,
removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16, io_setup 206 0, io_destroy 207 1,
io_getevents 208 4, io_submit 209 2, io_cancel 210 3, epoll_create 213 -, getdents64 217 61,
fadvise64 221 223, epoll_wait 232 -, epoll_ctl 233 21, utimes 235 -, inotify_init 253 -,
inotify_add_watch 254 27, inotify_rm_watch 255 28, openat 257 56, mkdirat 258 34, mknodat 259 33,
fchownat 260 54, futimesat 261 -, newfstatat 262 79, unlinkat 263 35, renameat 264 38,
linkat 265 37, symlinkat 266 36, readlinkat 267 78, fchmodat 268 53, faccessat 269 48,
pselect6 270 72, ppoll 271 73, splice 275 76, tee 276 77, sync_file_range 277 84,
vmsplice 278 75, utimensat 280 88, epoll_pwait 281 22, signalfd 282 -, eventfd 284 -,
fallocate 285 47, signalfd4 289 74, eventfd2 290 19, epoll_create1 291 20, dup3 292 24,
pipe2 293 59, inotify_init1 294 26, preadv 295 69, pwritev 296 70, name_to_handle_at 303 264,
syncfs 306 267, renameat2 316 276, memfd_create 319 279, copy_file_range 326 285,
preadv2 327 286, pwritev2 328 287, statx 332 291, io_pgetevents 333 292, close_range 436 436,
openat2 437 437, faccessat2 439 439, epoll_pwait2 441 441, cachestat 451 451, fchmodat2 452 452,
setxattrat 463 463, getxattrat 464 464, listxattrat 465 465, removexattrat 466 466,
file_getattr 468 468, file_setattr 469 469
"""

# Memory of the calling process.
MEMORY = """
mmap 9 222, mprotect 10 226, munmap 11 215, brk 12 214, mremap 25 216, msync 26 227,
mincore 27 232, madvise 28 233, mlock 149 228, munlock 150 229, mlockall 151 230,
munlockall 152 231, remap_file_pages 216 234, mbind 237 235, set_mempolicy 238 237,
get_mempolicy 239 236, membarrier 324 283, mlock2 325 284, pkey_mprotect 329 288,
pkey_alloc 330 289, pkey_free 331 290, map_shadow_stack 453 453, mseal 462 462
"""

# Processes, threads and signals. Namespaces, or Landlock's scopes, separate those of others.
PROCESSES = """
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, sched_yield 24 124, pause 34 -,
getpid 39 172, fork 57 -, vfork 58 -, execve 59 221, exit 60 93, wait4 61 260, kill 62 129,
uname 63 160, getrlimit 97 163, getrusage 98 165, sysinfo 99 179, times 100 153, ptrace 101 117,
getuid 102 174, getgid 104 176, setuid 105 146, setgid 106 144, geteuid 107 175, getegid 108 177,
setpgid 109 154, getppid 110 173, getpgrp 111 -, setsid 112 157, setreuid 113 145,
setregid 114 143, getgroups 115 158, setgroups 116 159, setresuid 117 147, getresuid 118 148,
setresgid 119 149, getresgid 120 150, getpgid 121 155, setfsuid 122 151, setfsgid 123 152,
getsid 124 156, capget 125 90, capset 126 91, rt_sigpending 127 136, rt_sigtimedwait 128 137,
rt_sigqueueinfo 129 138, rt_sigsuspend 130 133, sigaltstack 131 132, personality 135 92,
getpriority 140 141, sched_getparam 143 121, sched_getscheduler 145 120,
sched_get_priority_max 146 125, sched_get_priority_min 147 126, sched_rr_get_interval 148 127,
prctl 157 167, arch_prctl 158 -, setrlimit 160 164, gettid 186 178, tkill 200 130, futex 202 98,
sched_getaffinity 204 123, set_tid_address 218 96, restart_syscall 219 128, exit_group 231 94,
tgkill 234 131, waitid 247 95, ioprio_get 252 31, set_robust_list 273 99,
get_robust_list 274 100, rt_tgsigqueueinfo 297 240, getcpu 309 168, process_vm_readv 310 270,
process_vm_writev 311 271, sched_getattr 315 275, seccomp 317 277, getrandom 318 278,
execveat 322 281, rseq 334 293, pidfd_send_signal 424 424, pidfd_open 434 434,
landlock_create_ruleset 444 444, landlock_add_rule 445 445, landlock_restrict_self 446 446,
futex_waitv 449 449, futex_wake 454 454, futex_wait 455 455, futex_requeue 456 456
"""

# Timers, and clocks to read.
CLOCKS = """
nanosleep 35 101, getitimer 36 102, alarm 37 -, setitimer 38 103, gettimeofday 96 169,
time 201 -, timer_create 222 107, timer_settime 223 110, timer_gettime 224 108,
timer_getoverrun 225 109, timer_delete 226 111, clock_gettime 228 113, clock_getres 229 114,
clock_nanosleep 230 115, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87
"""

# Existing sockets. Arguments decide which ones can be created and connected.
SOCKETS = """
accept 43 202, recvfrom 45 207, recvmsg 47 212, shutdown 48 210, bind 49 200, listen 50 201,
getsockname 51 204, getpeername 52 205, setsockopt 54 208, getsockopt 55 209, accept4 288 242,
recvmmsg 299 243
"""

# System V and POSIX objects of all programs of the user, unless an IPC namespace separates them.
SHARED = """
shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semop 65 193, semctl 66 191,
shmdt 67 197, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, semtimedop 220 192,
mq_open 240 180, mq_unlink 241 181, mq_timedsend 242 182, mq_timedreceive 243 183,
mq_notify 244 184, mq_getsetattr 245 185
"""

# Allowed for some arguments only: `seccomp` defines which.
BY_ARGUMENTS = """
ioctl 16 29, socket 41 198, connect 42 203, sendto 44 206, sendmsg 46 211, socketpair 53 199,
clone 56 220, setpriority 141 140, sched_setparam 142 118, sched_setscheduler 144 119,
sched_setaffinity 203 122, ioprio_set 251 30, unshare 272 97, prlimit64 302 261,
sendmmsg 307 269, sched_setattr 314 274
"""


def numbers(group: str, machine: str) -> dict[str, int]:
    """Return the numbers of one group's calls by name, for a processor."""
    rows = _ROW.findall(group)
    column = _COLUMNS[machine]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}
