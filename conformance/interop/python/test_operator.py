"""py-consul's calls for operators against the server at CONSUL_HTTP_ADDR, which is the test's own: it restores snapshots there."""

import os
import time
import unittest

import consul
import requests

KEY = "pUqJrVyVRj5jsiYEkM/tFQYfWyJIv4s3XkvDwy7Cu5s="


def client(**settings):
    host, port = os.environ["CONSUL_HTTP_ADDR"].rsplit(":", 1)
    return consul.Consul(host=host, port=int(port), **settings)


class Case(unittest.TestCase):
    def setUp(self):
        self.consul = client()

    def refused(self, words, call, *arguments, **settings):
        with self.assertRaisesRegex(consul.ConsulException, words):
            call(*arguments, **settings)


class Operator(Case):
    def test_keeps_the_settings_of_autopilot(self):
        operator = self.consul.operator
        before = operator.autopilot_configuration()
        self.assertTrue(before["CleanupDeadServers"])
        index = before["ModifyIndex"]
        # What is left out is set to nothing until 1.8.
        names = ("CleanupDeadServers", "LastContactThreshold", "MaxTrailingLogs", "MinQuorum", "ServerStabilizationTime")
        self.addCleanup(operator.update_autopilot_configuration, *(before.get(name) for name in names))
        self.assertFalse(operator.update_autopilot_configuration(False, "1s", cas=index + 1))
        self.assertTrue(operator.update_autopilot_configuration(False, "1s", cas=index))
        now = operator.autopilot_configuration()
        self.assertEqual((now["CleanupDeadServers"], now["LastContactThreshold"]), (False, "1s"))
        self.assertGreater(now["ModifyIndex"], index)

    def test_sees_the_only_server_lead(self):
        name = self.consul.agent.self()["Config"]["NodeName"]
        # A real Consul looks at itself every two seconds.
        deadline = time.monotonic() + 30
        while not (health := self.consul.operator.autopilot_health())["Healthy"]:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual([(one["Name"], one["Leader"]) for one in health["Servers"]], [(name, True)])
        raft = self.consul.operator.raft_config()
        self.assertEqual([one["ID"] for one in raft["Servers"]], [health["Servers"][0]["ID"]])
        remove = self.consul.operator.raft_remove_peer
        self.refused('address "10.0.0.1:8300" was not found', remove, address="10.0.0.1:8300")
        self.refused('id "nope" was not found', remove, peer_id="nope")

    def test_has_no_keys_without_encryption(self):
        operator = self.consul.operator
        self.refused("^500", operator.keyring_list)
        for call in (operator.keyring_install, operator.keyring_use, operator.keyring_remove):
            self.refused("^500", call, KEY)

    def test_counts_services(self):
        usage = self.consul.operator.usage()
        # The client gives `None` for the 404 of a release that has no such endpoint.
        if usage is not None:
            self.assertGreaterEqual(usage["Usage"]["dc1"]["Services"], 1)


class Snapshots(Case):
    def test_bring_back_what_was(self):
        key = "interop/python/operator"
        self.consul.kv.put(key, b"\x00\xff", flags=42)
        self.addCleanup(self.consul.kv.delete, key)
        archive = self.consul.snapshot.save()
        self.consul.kv.delete("", recurse=True)
        for bad in (archive[: len(archive) // 2], b"garbage"):
            self.refused("^500", self.consul.snapshot.restore, bad)
        self.assertIsNone(self.consul.kv.get(key)[1])
        self.assertTrue(self.consul.snapshot.restore(archive))
        _, pair = self.consul.kv.get(key)
        self.assertEqual((pair["Value"], pair["Flags"]), (b"\x00\xff", 42))


class Coordinates(Case):
    def test_are_written_and_read(self):
        node = "interop-python-coordinates"
        self.consul.catalog.register(node, "10.0.0.9")
        self.addCleanup(self.consul.catalog.deregister, node)
        place = {"Vec": [0, 0, 0, 1.5, 0, 0, 0, 0], "Error": 1.5, "Adjustment": 0, "Height": 0.25}
        self.assertTrue(self.consul.coordinate.update(node, place))
        # A real Consul keeps updates for some seconds.
        deadline = time.monotonic() + 30
        while not (found := self.consul.coordinate.node(node)[1]):
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual([one["Coord"] for one in found], [place])
        self.assertIn(node, [one["Node"] for one in self.consul.coordinate.nodes()[1]])
        self.assertEqual([one["Datacenter"] for one in self.consul.coordinate.datacenters()], ["dc1"])


class Agent(Case):
    def test_tells_of_its_metrics(self):
        self.assertTrue(self.consul.agent.metrics()["Timestamp"])
        # It keeps none for Prometheus, which old releases call an error.
        try:
            self.assertEqual(self.consul.agent.metrics(format_prometheus=True), "")
        except consul.ConsulException as error:
            self.assertRegex(str(error), "^415 Prometheus is not enabled")

    def test_streams_its_log(self):
        self.refused("Unknown log level: loud", self.consul.agent.monitor, "loud")
        # The client reads until the stream ends, which it never does: it gives up when no line has come for so long.
        for as_json in (False, True):
            with self.assertRaises((requests.ReadTimeout, requests.ConnectionError)):
                client(connections_timeout=0.2).agent.monitor("err", logjson=as_json)


class Entries(Case):
    def test_are_set_compared_read_and_deleted(self):
        config, kind, name = self.consul.config, "service-defaults", "interop-python"
        self.assertTrue(config.set(kind, name, {"Protocol": "http"}, cas=0))
        self.addCleanup(config.delete, kind, name)
        self.assertFalse(config.set(kind, name, {"Protocol": "tcp"}, cas=0))
        entry = config.get(kind, name)
        self.assertEqual((entry["Kind"], entry["Name"], entry["Protocol"]), (kind, name, "http"))
        self.assertTrue(config.set(kind, name, {"Protocol": "grpc"}, cas=entry["ModifyIndex"]))
        self.assertIn(("interop-python", "grpc"), [(one["Name"], one["Protocol"]) for one in config.list(kind)])
        self.assertTrue(config.delete(kind, name))
        self.assertIsNone(config.get(kind, name))

    def test_make_a_discovery_chain(self):
        config, name = self.consul.config, "interop-python-chain"
        config.set("service-resolver", name, {"Redirect": {"Service": "elsewhere"}})
        self.addCleanup(config.delete, "service-resolver", name)
        chain = self.consul.discovery_chain.get(name)["Chain"]
        targets = [target["Service"] for target in chain["Targets"].values()]
        self.assertEqual((chain["ServiceName"], targets), (name, ["elsewhere"]))

    def test_of_no_kind_are_refused(self):
        self.refused("invalid config entry kind: nope", self.consul.config.set, "nope", "x")


if __name__ == "__main__":
    unittest.main()
