"""The lock of consulate, as its documentation has it: a `with` statement around a job of two seconds."""

import time

import consulate
from consulate import exceptions
from contender import HOST, LOCK_KEY, NAME, PORT, RHYTHM, WORK_KEY, rest, say

#: Seconds between two tries: the lock does not wait.
POLL = 0.1
JOB = int(2 / RHYTHM)


class Job:
    """What is done under the lock. A failed write fails the job, as an exception in a `with` block does."""

    def __init__(self, client):
        self.client = client
        self.writes = 0

    def run(self):
        say("held")
        try:
            for _ in range(JOB):
                self.writes += 1
                self.client.kv.set(WORK_KEY, f"{NAME} {self.writes}")
                time.sleep(RHYTHM)
        finally:
            say("lost")


def main():
    client = consulate.Consul(addr=f"http://{HOST}:{PORT}")
    job = Job(client)
    folder, key = LOCK_KEY.split("/")
    client.lock.prefix(folder)
    while True:
        try:
            with client.lock.acquire(key, NAME):
                job.run()
        except exceptions.LockFailure:
            time.sleep(POLL)
        except Exception as error:  # of the lock or of the job: consulate raises its own errors and KeyError
            rest(error)


main()
