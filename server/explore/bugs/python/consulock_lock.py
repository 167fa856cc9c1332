"""The lock of consulock, which is acquired, and released after a job of two seconds."""

import consul
from consulock import ConsulLock
from contender import HOST, LOCK_KEY, NAME, PORT, RHYTHM, Work, rest, say

#: Seconds between two tries.
POLL = 0.1
JOB = int(2 / RHYTHM)


def main():
    client = consul.Consul(host=HOST, port=PORT)
    work = Work(client)
    while True:
        try:
            lock = ConsulLock(LOCK_KEY, client, value=NAME)
            lock.acquire(interval=POLL)
            say("held")
            try:
                for _ in range(JOB):
                    work.step()
            finally:
                say("lost")
                lock.release()
        except (consul.ConsulException, OSError) as error:
            rest(error)


main()
