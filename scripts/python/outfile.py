"""Every file that a program in Python writes, whose name the user gave: the counterpart of gen/base/outfile.c.

    outfile.write("-o", path, b"...")
    with outfile.begin("-o", path) as out:      # the same, piece by piece
        out.add(b"...")

The path is looked up once: the directory is opened, and all else is done in it, so that nobody can put another file there
between a look and the write. The bytes go into a private file beside PATH, which is renamed when everything is written: a
reader never sees half of it, and an error leaves what was there. A pipe or a character device is written to; None and "-" are
standard output, and what /dev/stdout and /dev/fd/N lead to is this process's own descriptor.

A program, a script, a block device, a socket is refused: its name was given by mistake. As root, what another user could have
prepared is refused, too: a symbolic link that is not root's, and a file of another user or with several hard links in a
directory in which others can write.
"""
import contextlib
import errno
import fcntl
import os
import secrets
import signal
import stat

import diag

MAX_LINKS = 40  # path_resolution(7)
PROC_ROOT_INODE = 1  # its own links, as /proc/self, are the kernel's in every container
ENDS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)


class Refused(Exception):
    """Not written by a rule, of which this is the reason."""


def is_trusted(user):
    """Root, who runs this, or who called sudo(8)."""
    sudo = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return user in (0, os.getuid(), os.geteuid()) or (sudo.isdigit() and user == int(sudo))


def why_foreign(st, what):
    """How somebody else than root and the user can change a file, or None."""
    if not is_trusted(st.st_uid):
        return "uid %d owns %s" % (st.st_uid, what)
    if stat.S_ISLNK(st.st_mode):
        return None  # its mode has no meaning
    if st.st_mode & stat.S_IWOTH:
        return "everyone can write to %s" % what
    # A group of that number is the private one of a user.
    if st.st_mode & stat.S_IWGRP and not is_trusted(st.st_gid):
        return "gid %d can write to %s" % (st.st_gid, what)
    return None


class OutFile:
    def __init__(self, option, path):
        self.option, self.path = option, path
        self.fd = self.dir = -1
        self.name = None
        self.st = None  # of the file that is there
        self.foreign = None  # as root: who else can put files into the directory
        self.missing = None  # a directory of the path that does not exist
        self.is_descriptor = False  # the name is a link of /proc to an open file
        self.temp = None  # the private file
        self.mode = 0

    # --- where the path leads

    def step_into(self, folder):
        os.close(self.dir)
        self.dir = folder

    def is_in_proc(self):
        return os.fstat(self.dir).st_dev == os.stat("/proc").st_dev

    def check_link(self, st, name, is_last):
        """May it be followed? Not as root, if somebody else can have put it there."""
        folder = os.fstat(self.dir)
        if os.geteuid() != 0 or (folder.st_ino == PROC_ROOT_INODE and self.is_in_proc()):
            return
        why = why_foreign(st, "it") or why_foreign(folder, "its directory")
        if why and is_last:
            raise Refused("a symbolic link, not followed as root: %s" % why)
        if why:
            raise Refused("below the symbolic link %s, not followed as root: %s" % (name, why))

    def look_at(self, name, is_last, n_links, rest):
        try:
            return os.stat(name, dir_fd=self.dir, follow_symlinks=False)
        except FileNotFoundError:
            if is_last:
                return None
            if not n_links:
                self.missing = self.path[:len(self.path) - len(rest)]
            raise

    def look_up(self):
        """Finds the directory, the name there and what it is, following links as open(2) does."""
        rest, n_links = self.path, 0
        if not rest:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        self.dir = os.open("/" if rest[0] == "/" else ".", os.O_PATH | os.O_DIRECTORY)
        while True:
            rest = rest.lstrip("/")
            name, rest = (rest, "") if "/" not in rest else (rest[:rest.index("/")], rest[rest.index("/"):])
            name, is_last = name or ".", not rest
            st = self.look_at(name, is_last, n_links, rest)
            is_link = st is not None and stat.S_ISLNK(st.st_mode)
            is_proc = is_link and self.is_in_proc()
            if is_link:
                self.check_link(st, name, is_last)
                n_links += 1
            if n_links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if is_link and not is_proc:
                rest = os.readlink(name, dir_fd=self.dir) + rest
                if rest[0] == "/":
                    self.step_into(os.open("/", os.O_PATH | os.O_DIRECTORY))
            elif is_last:
                self.name, self.st, self.is_descriptor = name, st, is_link
                if is_link:
                    self.st = os.stat(name, dir_fd=self.dir)
                elif os.geteuid() == 0:
                    self.foreign = why_foreign(os.fstat(self.dir), "the directory")
                return
            else:  # only the kernel can follow a link of /proc
                self.step_into(os.open(name, os.O_PATH | os.O_DIRECTORY | (0 if is_link else os.O_NOFOLLOW), dir_fd=self.dir))

    # --- which files are written

    def start(self):
        """The first bytes of the file, if it can be read and is still the one that was looked at."""
        try:
            fd = os.open(self.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=self.dir)
        except OSError:
            return b""
        try:
            return os.read(fd, 64) if os.path.samestat(os.fstat(fd), self.st) else b""
        except OSError:
            return b""
        finally:
            os.close(fd)

    def check_contents(self, kind):
        """A script is replaced only by one of its kind, as what `btgen bundle` writes: their first two lines are the same."""
        start = self.start()
        if start.startswith(b"\177ELF"):
            raise Refused("a program or library: not overwritten")
        if start.startswith(b"#!") and not (kind and start.startswith(kind)):
            raise Refused("a script: not overwritten")

    def check(self, kind=b""):
        st = self.st
        if st is None:
            return
        if stat.S_ISDIR(st.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISBLK(st.st_mode):
            raise Refused("a block device: not written to")
        if self.is_descriptor:
            return
        if stat.S_ISSOCK(st.st_mode):
            raise Refused("a socket: not written to")
        if self.foreign and not is_trusted(st.st_uid):
            raise Refused("a file of uid %d, not overwritten as root: %s" % (st.st_uid, self.foreign))
        if not stat.S_ISREG(st.st_mode):
            return
        if self.foreign and st.st_nlink > 1:
            raise Refused("a file with %d hard links, not overwritten as root: %s" % (st.st_nlink, self.foreign))
        self.check_contents(kind)

    # --- opening

    def dup_descriptor(self):
        """The descriptor of ours that the name, a number in /proc/self/fd, is of: a file's place and a socket are shared so."""
        try:
            n = int(self.name)
            is_ours = os.path.samestat(os.fstat(n), self.st) and fcntl.fcntl(n, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            return os.dup(n) if is_ours else -1
        except (ValueError, OverflowError, OSError):
            return -1

    def open_found(self):
        """Opens it, and looks again at what was opened."""
        self.fd = self.dup_descriptor() if self.is_descriptor else -1
        if self.fd >= 0:
            return
        self.fd = os.open(self.name, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | (0 if self.is_descriptor else os.O_NOFOLLOW), dir_fd=self.dir)
        self.st = os.fstat(self.fd)
        self.check()

    def make_temp(self):
        """A private file in the directory; nobody has made it before."""
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # until there is somebody who removes it
        try:
            for _ in range(100):
                temp = "%s.%s" % (self.name, secrets.token_hex(4))
                try:
                    self.fd = os.open(temp, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=self.dir)
                except FileExistsError:
                    continue
                self.temp = temp
                for number in ENDS:  # those that are ignored stay so
                    if signal.getsignal(number) == signal.SIG_DFL:
                        signal.signal(number, self.take_signal)
                return
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))

    def take_signal(self, number, _frame):
        """Whoever is ended while writing leaves nothing."""
        self.drop()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def begin(self, kind):
        diag.progress.clear()
        if self.path in (None, "-"):
            self.path, self.fd = "standard output", 1
            return
        mask = os.umask(0)
        os.umask(mask)
        self.look_up()
        self.check(kind)
        self.mode = 0o666 & ~mask if self.st is None else self.st.st_mode & 0o777
        if self.st is None or (stat.S_ISREG(self.st.st_mode) and not self.is_descriptor):
            self.make_temp()
        else:
            self.open_found()

    # --- writing

    def add(self, data):
        view = memoryview(data)
        try:
            while len(view):
                view = view[os.write(self.fd, view):]
        except OSError as error:
            raise self.unwritten(error)

    def unwritten(self, error):
        return diag.error("cannot be written: %s" % error.strerror, self.path)

    def drop(self):
        if self.temp:
            with contextlib.suppress(FileNotFoundError):  # a signal came as it got its name, or was removed
                os.unlink(self.temp, dir_fd=self.dir)
        self.temp = None

    def close(self):
        fd, self.fd = self.fd, -1
        if fd > 2:
            os.close(fd)

    def commit(self):
        """What had its name is not touched: the private file becomes the file."""
        try:
            if self.temp:
                os.fchmod(self.fd, self.mode)
            self.close()
            if self.temp:
                os.rename(self.temp, self.name, src_dir_fd=self.dir, dst_dir_fd=self.dir)
                self.temp = None
        except OSError as error:
            raise self.unwritten(error)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.commit()
        finally:
            self.drop()
            if self.dir >= 0:
                os.close(self.dir)


def begin(option, path, kind=b""):
    """@option, "-o", is for errors. @kind: the first two lines of a script that is written."""
    out = OutFile(option, path)
    try:
        out.begin(kind)
    except Refused as why:
        raise diag.error("%s: %s is %s" % (option, path, why))
    except OSError as error:
        if out.missing:
            raise diag.error("%s: no such directory: %s" % (option, out.missing))
        raise diag.error("%s: cannot write %s: %s" % (option, path, error.strerror))
    return out


def write(option, path, data):
    kind = b"".join(data.split(b"\n", 2)[i] + b"\n" for i in range(2)) if data.count(b"\n") >= 2 else b""
    with begin(option, path, kind) as out:
        out.add(data)


def is_same(path, other):
    """Two names of one regular file."""
    try:
        a, b = os.stat(path), os.stat(other)
    except OSError:
        return False
    return stat.S_ISREG(a.st_mode) and os.path.samestat(a, b)
