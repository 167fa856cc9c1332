"""Patroni's class for Consul, used as Patroni's own loop does, without a PostgreSQL. Its key is `service/bugs/leader`.

Patroni's times are in proportion to its usual ones: a TTL of 30 s (15 s of which it gives to Consul's session), and
10 s for a turn of the loop and for retries.

Usage: patroni_leader.py [patronictl]    patronictl: the leader's machine also runs `patronictl list` every two seconds
"""

import inspect
import json
import logging
import sys
import threading
import time

import consul
from contender import HOST, NAME, PORT, RHYTHM, TTL, Work, give_up, report, say
from patroni.dcs import consul as dcs_consul
from patroni.exceptions import DCSError

logging.disable(logging.CRITICAL)

#: Seconds between the moment from which no write begins and the line that says so.
GRACE = 0.01
#: Seconds from one `patronictl list` to the next.
LIST = 2
CONFIG = {
    "name": NAME,
    "scope": "bugs",
    "host": f"{HOST}:{PORT}",
    "ttl": 2 * TTL,
    "loop_wait": 2 * TTL / 3,
    "retry_timeout": 2 * TTL / 3,
}


class Holder:
    """What is a PostgreSQL in Patroni: a primary writes."""

    def __init__(self):
        self.primary = False
        self.work = Work(consul.Consul(host=HOST, port=PORT))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            if self.primary:
                self.work.step()
            else:
                time.sleep(RHYTHM / 10)

    def promote(self):
        if not self.primary:
            say("held")
            self.primary = True

    def demote(self):
        if self.primary:
            self.primary = False
            time.sleep(GRACE)
            say("lost")


def has_lock(dcs):
    """One turn of the loop: whether this member may be the primary until the next."""
    cluster = dcs.get_cluster()
    member = {"conn_url": f"postgres://{NAME}/", "api_url": f"http://{NAME}/", "state": "running", "role": "replica"}
    # Newer versions make the text themselves.
    dcs.touch_member(json.dumps(member) if "json" not in vars(dcs_consul) else member)
    if cluster.is_unlocked():
        return dcs.attempt_to_acquire_leader(), cluster
    if cluster.leader.name != NAME:
        return False, cluster
    # Newer versions write the leader's position together with the renewal.
    position = ["0"] if hasattr(dcs, "_update_leader") else []
    return dcs.update_leader(*position), cluster


def watch(dcs, cluster, wait):
    """Waits for the next turn, or for a change of the leader's key if another member holds it."""
    if len(inspect.signature(dcs.watch).parameters) == 1:
        dcs.watch(wait)
        return
    leader = cluster and cluster.leader
    dcs.watch(leader.index if leader and leader.name != NAME else None, wait)


def list_cluster():
    """Runs what `patronictl list` runs, with the configuration of this member."""
    while True:
        time.sleep(LIST)
        try:
            dcs_consul.Consul(dict(CONFIG, patronictl=True)).get_cluster()
        except Exception as error:  # the tool prints it, and ends
            report(error)


def main():
    dcs = dcs_consul.Consul(dict(CONFIG))
    holder = Holder()
    if sys.argv[1:] == ["patronictl"]:
        threading.Thread(target=list_cluster, daemon=True).start()
    next_run = time.time()
    while True:
        cluster = None
        try:
            held, cluster = has_lock(dcs)
        except DCSError as error:
            report(error)
            held = False
        except Exception as error:  # ends Patroni, which stops its PostgreSQL
            holder.demote()
            give_up(error)
        if held:
            holder.promote()
        else:
            holder.demote()
        next_run = max(next_run + CONFIG["loop_wait"], time.time() + 0.001)
        watch(dcs, cluster, next_run - time.time())


main()
