"""One of many who want the same lock, or one of two slots, with the standard library alone: it takes it, says so at a
place outside of Consul, gives it back, and begins again. The steps are those of Consul's guides.

    contender.py lock|semaphore <prefix> <host:port of the place>
"""

import base64
import http.client
import json
import os
import socket
import sys
import threading
import time

LOCK_FLAGS = 3304740253564472344
SEMAPHORE_FLAGS = 16210313421097356768
# Seconds; so long that a machine that is busy for some of them costs no session its life: it lapses after twice as long.
TTL = 5


class Refused(Exception):
    """An answer that is neither 200 nor 404."""


def call(method, path, body=None):
    connection = http.client.HTTPConnection(os.environ["CONSUL_HTTP_ADDR"])
    connection.request(method, "/v1/" + path, body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status == 404:
        return None
    if answer.status != 200:
        raise Refused(f"{method} {path}: {answer.status} {text!r}")
    return json.loads(text)


class Session:
    def __init__(self, place):
        self.place = place
        self.confirmed = time.monotonic()
        self.ended = False
        wanted = {"Name": f"contender {os.getpid()}", "TTL": f"{TTL}s", "LockDelay": "1s"}
        self.id = call("PUT", "session/create", json.dumps(wanted))["ID"]
        threading.Thread(target=self.renew, daemon=True).start()

    def lost(self):
        """Also when nobody has confirmed it for one TTL: it may lapse after a second one."""
        return self.ended or time.monotonic() > self.confirmed + TTL

    def renew(self):
        while not self.lost():
            time.sleep(TTL / 5)
            asked = time.monotonic()
            if call("PUT", "session/renew/" + self.id):
                self.confirmed = asked
            else:
                self.ended = True
        # Whoever works in its name stops.
        self.place.say("leave")


class Place:
    """Where the work is done."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.connection = socket.create_connection((host, int(port)))
        self.answers = self.connection.makefile("r")

    def say(self, line):
        self.connection.sendall(f"{line}\n".encode())

    def hears(self, *words):
        while line := self.answers.readline():
            if line.strip() in words:
                return
        sys.exit("the place is open as long as we run")

    def asks(self, word):
        self.say(word)
        self.hears(word)

    def visit(self, session, lock_index):
        """The work: whoever is inside believes that it may be. It ends early when the session is lost."""
        if session.lost():
            return
        self.say(f"enter python {os.getpid()} {session.id} {lock_index}")
        self.hears("enter", "leave")
        self.asks("leave")


def lock(session, prefix, place):
    key = f"kv/{prefix}/.lock"
    if call("PUT", f"{key}?acquire={session.id}&flags={LOCK_FLAGS}", "python"):
        pair = call("GET", key)
        place.visit(session, pair[0]["LockIndex"] if pair else "?")
        call("PUT", f"{key}?release={session.id}&flags={LOCK_FLAGS}", "python")


def table(prefix):
    """The holders that live, and the index that a change of them must name."""
    pairs = {pair["Key"]: pair for pair in call("GET", f"kv/{prefix}/?recurse") or []}
    found = pairs.get(f"{prefix}/.lock")
    holders = json.loads(base64.b64decode(found["Value"]))["Holders"] if found else {}
    lives = {pair["Session"] for pair in pairs.values() if "Session" in pair}
    return {id: True for id in holders or {} if id in lives}, found["ModifyIndex"] if found else 0


def change(prefix, holders, index):
    text = json.dumps({"Limit": 2, "Holders": holders})
    return call("PUT", f"kv/{prefix}/.lock?cas={index}&flags={SEMAPHORE_FLAGS}", text)


def semaphore(session, prefix, place):
    own = f"kv/{prefix}/{session.id}?acquire={session.id}&flags={SEMAPHORE_FLAGS}"
    if not call("PUT", own, "python"):
        return
    holders, index = table(prefix)
    if len(holders) >= 2 or not change(prefix, {**holders, session.id: True}, index):
        return
    place.visit(session, "-")
    left = False
    while not left:
        holders, index = table(prefix)
        holders.pop(session.id, None)
        left = change(prefix, holders, index)


def main():
    mode, prefix, address = sys.argv[1:]
    once = {"lock": lock, "semaphore": semaphore}[mode]
    place = Place(address)
    while True:
        session = Session(place)
        while not session.lost():
            try:
                once(session, prefix, place)
            except Refused as refused:
                # Of a session that ended just now.
                print("contender in Python:", refused, file=sys.stderr)
            place.asks("rest")


main()
