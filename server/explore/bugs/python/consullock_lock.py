"""The lock of consullock: a `with` statement around a job of two seconds, and a session without a TTL, its default."""

from consul import Consul
from consullock.exceptions import ConsulLockBaseError
from consullock.managers import ConsulLockManager
from contender import HOST, LOCK_KEY, NAME, PORT, RHYTHM, Work, rest, say

#: Seconds between two tries.
POLL = 0.1
JOB = int(2 / RHYTHM)


def main():
    client = Consul(host=HOST, port=PORT)
    work = Work(client)
    manager = ConsulLockManager(consul_client=client)
    while True:
        try:
            lock = manager.acquire(LOCK_KEY, metadata=NAME, lock_poll_interval_generator=lambda _: POLL)
            with lock:
                say("held")
                for _ in range(JOB):
                    work.step()
                say("lost")
        except ConsulLockBaseError as error:
            rest(error)
        except OSError as error:  # a connection that failed
            rest(error)


main()
