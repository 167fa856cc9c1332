"""py-consul over TLS, against the server at CONSUL_HTTP_ADDR with the authority CONSUL_CACERT; OTHER_CACERT is that of another."""

import os
import unittest
from urllib.parse import urlsplit

import consul
import requests

SERVER = urlsplit(os.environ["CONSUL_HTTP_ADDR"])


def client(scheme="https", verify=True):
    return consul.Consul(host=SERVER.hostname, port=SERVER.port, scheme=scheme, verify=verify)


class Https(unittest.TestCase):
    def setUp(self):
        # Each counts more than `verify` does.
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CONSUL_HTTP_ADDR"):
            os.environ.pop(name, None)

    def test_serves_who_trusts_its_authority(self):
        trusting = client(verify=os.environ["CONSUL_CACERT"])
        self.assertTrue(trusting.kv.put("interop/python/https", "1"))
        self.addCleanup(trusting.kv.delete, "interop/python/https")
        index, pair = trusting.kv.get("interop/python/https")
        self.assertEqual(pair["Value"], b"1")
        trusting.kv.put("interop/python/https", "2")
        _, pair = trusting.kv.get("interop/python/https", index=index, wait="30s")
        self.assertEqual(pair["Value"], b"2")

    def test_is_refused_by_who_trusts_another(self):
        for verify in (os.environ["OTHER_CACERT"], True):
            with self.assertRaises(requests.exceptions.SSLError):
                client(verify=verify).status.leader()

    def test_says_what_plain_http_is_there(self):
        with self.assertRaisesRegex(consul.ConsulException, "^400 Client sent an HTTP request to an HTTPS server"):
            client(scheme="http").status.leader()


if __name__ == "__main__":
    unittest.main()
