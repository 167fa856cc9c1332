"""The lock of OpenStack's tooz with Consul, whose heartbeat tooz runs. Its key is `tooz/locks/bugs/lock`.

A careful user asks the lock whether it is acquired before each write; tooz has no other way to notice a loss with
Consul, because `is_still_owner` is not implemented there.

Usage: tooz_lock.py leader|jobs    leader: holds the lock for ever; jobs: for two seconds each time
"""

import sys
import warnings

import consul
import tooz
from contender import HOST, LOCK_KEY, NAME, PORT, RHYTHM, TTL, Work, rest, say
from tooz import coordination

warnings.simplefilter("ignore")  # the driver says that it will be removed

JOB = sys.maxsize if sys.argv[1] == "leader" else int(2 / RHYTHM)


def main():
    work = Work(consul.Consul(host=HOST, port=PORT))
    url = f"consul://{HOST}:{PORT}?ttl={max(1, round(TTL))}"
    coordinator = coordination.get_coordinator(url, NAME.encode())
    coordinator.start(start_heart=True)
    lock = coordinator.get_lock(LOCK_KEY)
    while True:
        try:
            lock.acquire()
        except tooz.ToozError as error:
            rest(error)
            continue
        say("held")
        steps = 0
        while lock.acquired and steps < JOB:
            work.step()
            steps += 1
        say("lost")
        try:
            lock.release()
        except Exception as error:  # python-consul's own errors, which tooz lets through
            rest(error)


main()
