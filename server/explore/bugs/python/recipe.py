"""A lock as Consul's guide to leader elections describes it, by the newest client, py-consul: create a session, acquire
the key with it, renew the session every half TTL, and watch the key to notice a loss.

The program believes that it holds the lock from the acquire until the earliest of: a read shows another holder, a
renewal says that the session is gone, or one TTL has passed since the last successful renewal was *sent*. The server
waits for two TTLs from its arrival, so nobody else holds the lock before that.

Usage: recipe.py [fenced]    fenced: a write is a transaction that checks the lock's session
"""

import base64
import sys
import threading
import time

import consul
import requests
from contender import HOST, LOCK_DELAY, LOCK_KEY, NAME, PAUSE, PORT, TTL, WORK_KEY, Work, report, rest, say

ERRORS = (consul.ConsulException, requests.RequestException)
FENCED = sys.argv[1:] == ["fenced"]
#: Seconds between the moment from which no write begins and the line that says so.
GRACE = 0.01


def connect(timeout):
    """A client with connections of its own: they are not shared between threads."""
    return consul.Consul(host=HOST, port=PORT, connections_timeout=timeout)


class Session:
    """A session that a renewal keeps alive. It ends once, and never lives again."""

    def __init__(self, holder, created, sent):
        self.holder = holder
        self.id = created
        self.until = sent + TTL
        self.ended = threading.Event()
        threading.Thread(target=self.renew, daemon=True).start()
        threading.Thread(target=self.expire, daemon=True).start()

    def valid(self):
        return not self.ended.is_set() and time.monotonic() < self.until

    def end(self, why):
        if not self.ended.is_set():
            self.ended.set()
            self.holder.lose(self)
            report(TimeoutError(f"session {self.id} {why}"))

    def expire(self):
        """Ends the session when it was not renewed in time."""
        while not self.ended.wait(max(0, self.until - time.monotonic())):
            if time.monotonic() >= self.until:
                self.end("was not renewed in time")

    def renew(self):
        client = connect(TTL / 2)
        pause = TTL / 2
        while not self.ended.wait(pause):
            sent = time.monotonic()
            try:
                client.session.renew(self.id)
                self.until = sent + TTL
                pause = TTL / 2
            except consul.NotFound:
                self.end("is gone")
            except ERRORS as error:
                report(error)
                pause = TTL / 10


class Holder(Work):
    """What the program believes, and its guarded writes in a thread of their own."""

    def __init__(self):
        super().__init__(connect(TTL))
        self.changed = threading.Condition()
        #: The session by which the program holds the lock, or None.
        self.session = None
        threading.Thread(target=self.run, daemon=True).start()

    def win(self, session):
        """Begins to believe, unless the answer to the acquire came too late."""
        with self.changed:
            if self.session is not session and session.valid():
                self.session = session
                say("held")
                self.changed.notify()

    def lose(self, session):
        with self.changed:
            if self.session is session:
                self.session = None
                time.sleep(GRACE)
                say("lost")

    def run(self):
        while True:
            with self.changed:
                while self.session is None:
                    self.changed.wait()
            self.step()

    def write(self):
        session = self.session
        if session is None or not session.valid():
            return
        if not FENCED:
            super().write()
            return
        self.writes += 1
        value = base64.b64encode(f"{NAME} {self.writes}".encode()).decode()
        check = {"Verb": "check-session", "Key": LOCK_KEY, "Session": session.id}
        self.client.txn.put([{"KV": check}, {"KV": {"Verb": "set", "Key": WORK_KEY, "Value": value}}])


def watch(client, index):
    """Reads the lock's key; with an index, waits for a change. Returns the next index, and the session that holds it."""
    wait = f"{TTL}s" if index else None
    read, item = client.kv.get(LOCK_KEY, index=index, wait=wait)
    # Without an index, which is what one that is zero or goes back makes it, the next read does not wait.
    following = read if int(read) > 0 and (index is None or int(read) >= int(index)) else None
    return following, item and item.get("Session")


def compete(client, holder, session):
    """Acquires the lock and watches it, until the session ends. What an acquire did whose answer is lost, a read shows."""
    index = None
    while not session.ended.is_set():
        try:
            index, owner = watch(client, index)
            if owner == session.id:
                holder.win(session)
            else:
                holder.lose(session)
            if index is None:  # against a busy loop
                session.ended.wait(TTL / 4)
            if owner or session.ended.is_set():
                continue
            index = None
            if not client.kv.put(LOCK_KEY, NAME, acquire=session.id):
                # The key is free, and its lock-delay runs, of which no read says when it ends.
                session.ended.wait(LOCK_DELAY / 4)
        except ERRORS as error:
            report(error)
            index = None
            session.ended.wait(TTL / 10)


def main():
    client = connect(TTL)
    holder = Holder()
    while True:
        try:
            sent = time.monotonic()
            created = client.session.create(name=NAME, ttl=TTL, lock_delay=LOCK_DELAY)
            session = Session(holder, created, sent)
            compete(client, holder, session)
            client.session.destroy(session.id)
        except ERRORS as error:
            rest(error)
        else:
            time.sleep(PAUSE)


main()
