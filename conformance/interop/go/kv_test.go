// Package interop holds the official Go client against the server at CONSUL_HTTP_ADDR: the emulator or a real Consul.
package interop

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/hashicorp/consul/api"
)

func client(t *testing.T) *api.Client {
	t.Helper()
	if os.Getenv("CONSUL_HTTP_ADDR") == "" {
		t.Fatal("CONSUL_HTTP_ADDR says which server to test; see conformance/interop/README.md")
	}
	c, err := api.NewClient(api.DefaultConfig())
	must(t, err)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// prefix is a part of the key space for one test; it is empty before and after.
func prefix(t *testing.T, c *api.Client) string {
	t.Helper()
	name := fmt.Sprintf("interop/go/%s/%d/", t.Name(), os.Getpid())
	clean := func() {
		_, err := c.KV().DeleteTree(name, nil)
		must(t, err)
	}
	clean()
	t.Cleanup(clean)
	return name
}

func TestKeysAreWrittenReadAndDeleted(t *testing.T) {
	c := client(t)
	kv, p := c.KV(), prefix(t, c)
	value := []byte{0, 255, 'x'}
	_, err := kv.Put(&api.KVPair{Key: p + "a", Value: value, Flags: math.MaxUint64}, nil)
	must(t, err)
	pair, meta, err := kv.Get(p+"a", nil)
	must(t, err)
	if !bytes.Equal(pair.Value, value) || pair.Flags != math.MaxUint64 {
		t.Fatalf("read %v with flags %d", pair.Value, pair.Flags)
	}
	if meta.LastIndex != pair.ModifyIndex || !meta.KnownLeader {
		t.Fatalf("meta %+v of %+v", meta, pair)
	}
	_, err = kv.Put(&api.KVPair{Key: p + "d/b c&%", Value: nil}, nil)
	must(t, err)
	keys, _, err := kv.Keys(p, "/", nil)
	must(t, err)
	if len(keys) != 2 || keys[0] != p+"a" || keys[1] != p+"d/" {
		t.Fatalf("keys %v", keys)
	}
	pairs, _, err := kv.List(p, nil)
	must(t, err)
	if len(pairs) != 2 || pairs[1].Key != p+"d/b c&%" || len(pairs[1].Value) != 0 {
		t.Fatalf("list %v", pairs)
	}
	_, err = kv.Delete(p+"a", nil)
	must(t, err)
	pair, _, err = kv.Get(p+"a", nil)
	must(t, err)
	if pair != nil {
		t.Fatalf("%+v is still there", pair)
	}
}

func TestCasWritesOnlyWhatWasSeen(t *testing.T) {
	c := client(t)
	kv, p := c.KV(), prefix(t, c)
	written := func(index uint64, want bool) {
		t.Helper()
		ok, _, err := kv.CAS(&api.KVPair{Key: p + "k", Value: []byte("v"), ModifyIndex: index}, nil)
		must(t, err)
		if ok != want {
			t.Fatalf("cas of index %d gave %v", index, ok)
		}
	}
	written(0, true)
	written(0, false)
	pair, _, err := kv.Get(p+"k", nil)
	must(t, err)
	written(pair.ModifyIndex, true)
	ok, _, err := kv.DeleteCAS(&api.KVPair{Key: p + "k", ModifyIndex: 1}, nil)
	must(t, err)
	if ok {
		t.Fatal("a stale delete took place")
	}
}

func TestTransactionsHappenWholeOrNotAtAll(t *testing.T) {
	c := client(t)
	p := prefix(t, c)
	ops := api.TxnOps{
		{KV: &api.KVTxnOp{Verb: api.KVCheckNotExists, Key: p + "a"}},
		{KV: &api.KVTxnOp{Verb: api.KVSet, Key: p + "a", Value: []byte("1"), Flags: 7}},
		{KV: &api.KVTxnOp{Verb: api.KVGet, Key: p + "a"}},
	}
	ok, response, _, err := c.Txn().Txn(ops, nil)
	must(t, err)
	if !ok || len(response.Results) != 2 || string(response.Results[1].KV.Value) != "1" {
		t.Fatalf("%v %+v", ok, response)
	}
	ok, response, _, err = c.Txn().Txn(ops, nil)
	must(t, err)
	if ok || len(response.Errors) != 1 || response.Errors[0].OpIndex != 0 {
		t.Fatalf("%v %+v", ok, response)
	}
}

func TestABlockingReadSeesTheWriteThatItWaitsFor(t *testing.T) {
	c := client(t)
	kv, p := c.KV(), prefix(t, c)
	_, meta, err := kv.Get(p+"k", nil)
	must(t, err)
	type seen struct {
		pair *api.KVPair
		err  error
	}
	found := make(chan seen)
	go func() {
		pair, _, err := kv.Get(p+"k", &api.QueryOptions{WaitIndex: meta.LastIndex})
		// Another test's write may wake a reader of a missing key.
		for err == nil && pair == nil {
			pair, meta, err = kv.Get(p+"k", &api.QueryOptions{WaitIndex: meta.LastIndex})
		}
		found <- seen{pair, err}
	}()
	_, err = kv.Put(&api.KVPair{Key: p + "k", Value: []byte("v")}, nil)
	must(t, err)
	got := <-found
	must(t, got.err)
	if string(got.pair.Value) != "v" {
		t.Fatalf("saw %+v", got.pair)
	}
}
