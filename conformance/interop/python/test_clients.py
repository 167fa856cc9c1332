"""Python's Consul clients against the server at CONSUL_HTTP_ADDR: the emulator or a real Consul.

py-consul and python-consul2 have the same module and the same calls, so both run these tests.
"""

import os
import threading
import unittest

import consul


def client():
    host, port = os.environ["CONSUL_HTTP_ADDR"].rsplit(":", 1)
    return consul.Consul(host=host, port=int(port))


class Case(unittest.TestCase):
    def setUp(self):
        self.consul = client()
        self.prefix = f"interop/python/{os.getpid()}/{self.id()}/"
        self.consul.kv.delete(self.prefix, recurse=True)
        self.addCleanup(self.consul.kv.delete, self.prefix, recurse=True)

    def session(self, **settings):
        session = self.consul.session.create(**settings)
        self.addCleanup(self.consul.session.destroy, session)
        return session


class Keys(Case):
    def test_are_written_read_and_deleted(self):
        key = self.prefix + "a b"
        self.assertTrue(self.consul.kv.put(key, b"\x00\xff", flags=7))
        index, pair = self.consul.kv.get(key)
        self.assertEqual((pair["Value"], pair["Flags"], pair["Key"]), (b"\x00\xff", 7, key))
        self.assertEqual(int(index), pair["ModifyIndex"])
        _, pairs = self.consul.kv.get(self.prefix, recurse=True)
        self.assertEqual([pair["Key"] for pair in pairs], [key])
        _, keys = self.consul.kv.get(self.prefix, keys=True, separator="/")
        self.assertEqual(keys, [key])
        self.assertTrue(self.consul.kv.delete(key))
        _, pair = self.consul.kv.get(key)
        self.assertIsNone(pair)

    def test_are_compared_and_set(self):
        key = self.prefix + "k"
        self.assertTrue(self.consul.kv.put(key, "1", cas=0))
        self.assertFalse(self.consul.kv.put(key, "2", cas=0))
        _, pair = self.consul.kv.get(key)
        self.assertTrue(self.consul.kv.put(key, "2", cas=pair["ModifyIndex"]))

    def test_wake_a_blocking_read(self):
        key = self.prefix + "k"
        self.consul.kv.put(key, "1")
        index, _ = self.consul.kv.get(key)
        seen = []
        reader = threading.Thread(
            target=lambda: seen.append(client().kv.get(key, index=index, wait="30s"))
        )
        reader.start()
        self.consul.kv.put(key, "2")
        reader.join()
        self.assertEqual(seen[0][1]["Value"], b"2")

    def test_take_part_in_transactions(self):
        key = self.prefix + "k"
        done = self.consul.txn.put(
            [
                {"KV": {"Verb": "set", "Key": key, "Value": "MQ=="}},
                {"KV": {"Verb": "get", "Key": key}},
            ]
        )
        self.assertIsNone(done["Errors"])
        self.assertEqual(done["Results"][1]["KV"]["Value"], "MQ==")


class Sessions(Case):
    def test_hold_keys(self):
        key = self.prefix + "k"
        one = self.session(ttl=15, behavior="delete")
        two = self.session(name="two")
        self.assertTrue(self.consul.kv.put(key, "1", acquire=one))
        self.assertFalse(self.consul.kv.put(key, "2", acquire=two))
        self.assertEqual(self.consul.session.renew(one)["ID"], one)
        self.assertTrue(self.consul.session.destroy(one))
        _, pair = self.consul.kv.get(key)
        self.assertIsNone(pair)
        with self.assertRaises(consul.NotFound):
            self.consul.session.renew(one)

    def test_are_listed(self):
        session = self.session(name="me", lock_delay=1)
        _, info = self.consul.session.info(session)
        self.assertEqual((info["Name"], info["LockDelay"]), ("me", 1_000_000_000))
        for listed in (self.consul.session.list(), self.consul.session.node(info["Node"])):
            self.assertIn(session, [one["ID"] for one in listed[1]])

    def test_with_a_bad_ttl_are_refused(self):
        # The clients refuse it by themselves; what Consul says is in the conformance suite.
        with self.assertRaises(AssertionError):
            self.session(ttl=1)


class Cluster(Case):
    def test_has_a_leader_and_its_own_node(self):
        self.assertTrue(self.consul.status.leader())
        self.assertEqual(len(self.consul.status.peers()), 1)
        name = self.consul.agent.self()["Config"]["NodeName"]
        _, nodes = self.consul.catalog.nodes()
        self.assertIn(name, [node["Node"] for node in nodes])
        _, checks = self.consul.health.node(name)
        self.assertIn("serfHealth", [check["CheckID"] for check in checks])

    def test_knows_what_was_registered(self):
        node = f"interop-python-{os.getpid()}"
        self.consul.catalog.register(
            node, "10.0.0.7", service={"ID": "web-1", "Service": node + "-web", "Port": 80}
        )
        self.addCleanup(self.consul.catalog.deregister, node)
        _, services = self.consul.catalog.service(node + "-web")
        self.assertEqual([one["ServicePort"] for one in services], [80])
        _, entries = self.consul.health.service(node + "-web", passing=True)
        self.assertEqual([one["Node"]["Node"] for one in entries], [node])


if __name__ == "__main__":
    unittest.main()
