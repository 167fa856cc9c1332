"""What all contenders in Python share: who they are, what they print, and their guarded writes."""

import os
import re
import sys
import time

#: What contenders compete for, unless the library has its own name for the key.
LOCK_KEY = "bugs/lock"
#: Where the holder writes, and nobody else may.
WORK_KEY = "work/item"

#: Seconds between two guarded writes.
RHYTHM = 0.1
#: Seconds that keep a worker from a busy loop of its own after an error.
PAUSE = 0.5

HOST, PORT = os.environ.get("CONSUL_HTTP_ADDR", "127.0.0.1:8500").split(":")
PORT = int(PORT)
NAME = os.environ.get("PROCONSUL_CONTENDER", "a")


def seconds(variable):
    """The seconds of a variable such as `1s` or `500ms`."""
    number, unit = re.fullmatch(r"([\d.]+)(ms|s|m)", os.environ.get(variable, "1s")).groups()
    return float(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]


TTL = seconds("SESSION_TTL")
LOCK_DELAY = seconds("LOCK_DELAY")


def say(line):
    """Prints a line at once."""
    os.write(1, f"{line}\n".encode())


def report(error):
    """Prints an error to standard error."""
    os.write(2, f"{type(error).__name__}: {error}\n".encode())


def rest(error):
    """Reports an error, and waits before the caller tries again."""
    report(error)
    time.sleep(PAUSE)


def give_up(error):
    """Ends the process, because the library did."""
    report(error)
    sys.exit(1)


class Work:
    """The work of a holder: guarded writes, one at a time."""

    def __init__(self, client):
        #: Has `kv.put(key, value)`, as python-consul and its successors do.
        self.client = client
        self.writes = 0

    def step(self):
        """Writes once, and waits for the next time. An error is reported, and the next write comes all the same."""
        began = time.monotonic()
        try:
            self.write()
        except Exception as error:  # each client has its own errors
            report(error)
        time.sleep(max(0, began + RHYTHM - time.monotonic()))

    def write(self):
        """Writes once."""
        self.writes += 1
        self.client.kv.put(WORK_KEY, f"{NAME} {self.writes}")
