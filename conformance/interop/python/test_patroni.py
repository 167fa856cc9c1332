"""Patroni, which runs PostgreSQL's failover on sessions and locks, against the server at CONSUL_HTTP_ADDR.

Its own layer over Consul is driven as its two daemons would drive it; there is no PostgreSQL.
"""

import os
import threading
import unittest

from patroni.dcs import get_dcs


def member(name):
    host, port = os.environ["CONSUL_HTTP_ADDR"].rsplit(":", 1)
    return get_dcs(
        {
            "name": name,
            "scope": f"interop-{os.getpid()}",
            "ttl": 30,
            "loop_wait": 10,
            "retry_timeout": 10,
            "consul": {"host": host, "port": int(port), "register_service": True},
        }
    )


class Patroni(unittest.TestCase):
    def setUp(self):
        self.first, self.second = member("pg1"), member("pg2")
        self.addCleanup(self.first.delete_cluster)
        for dcs in (self.first, self.second):
            self.addCleanup(lambda dcs=dcs: dcs._client.session.destroy(dcs._session))
            touched = dcs.touch_member(
                {
                    "role": "replica",
                    "state": "running",
                    "conn_url": "postgres://127.0.0.1:5432/postgres",
                    "api_url": "http://127.0.0.1:8008/patroni",
                }
            )
            self.assertTrue(touched)

    def leader(self):
        leader = self.second.get_cluster().leader
        return leader and leader.name

    def test_one_member_initializes_the_cluster(self):
        self.assertTrue(self.first.initialize(True, "system"))
        self.assertFalse(self.second.initialize(True, "another"))
        cluster = self.second.get_cluster()
        self.assertEqual(cluster.initialize, "system")
        self.assertEqual(sorted(m.name for m in cluster.members), ["pg1", "pg2"])
        self.assertTrue(self.second.cancel_initialization())

    def test_one_member_leads_and_says_how_far_it_is(self):
        self.assertTrue(self.first.attempt_to_acquire_leader())
        self.assertFalse(self.second.attempt_to_acquire_leader())
        self.assertEqual(self.leader(), "pg1")
        self.assertTrue(self.first.update_leader(self.first.get_cluster(), 123, None))
        self.assertEqual(self.second.get_cluster().status.last_lsn, 123)

    def test_the_configuration_is_compared_and_set(self):
        self.assertTrue(self.first.set_config_value('{"ttl": 30}'))
        config = self.second.get_cluster().config
        self.assertEqual(config.data, {"ttl": 30})
        self.assertFalse(self.second.set_config_value('{"ttl": 60}', version=config.version + 10**6))
        self.assertTrue(self.second.set_config_value('{"ttl": 60}', version=config.version))

    def test_who_waits_hears_that_the_leader_is_gone_and_follows(self):
        self.assertTrue(self.first.attempt_to_acquire_leader())
        cluster = self.second.get_cluster()
        heard = []
        waiting = threading.Thread(
            target=lambda: heard.append(self.second.watch(cluster.leader.version, 30))
        )
        waiting.start()
        self.assertTrue(self.first._delete_leader(cluster.leader))
        waiting.join(20)
        self.assertEqual(heard, [True])
        self.assertTrue(self.second.attempt_to_acquire_leader())
        self.assertEqual(self.leader(), "pg2")

    def test_a_switchover_is_asked_for(self):
        self.assertTrue(self.first.manual_failover("pg1", "pg2"))
        failover = self.second.get_cluster().failover
        self.assertEqual((failover.leader, failover.candidate), ("pg1", "pg2"))


if __name__ == "__main__":
    unittest.main()
