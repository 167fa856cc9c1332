// Package operator holds the official Go client's calls for operators against the server at CONSUL_HTTP_ADDR, which is
// the test's own: it restores snapshots there.
package operator

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/hashicorp/serf/coordinate"
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

// refused requires an error with these words.
func refused(t *testing.T, what string, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Fatalf("%s: %v", what, err)
	}
}

// unlessOld says whether the release has a call, and fails if it does not answer for another reason.
func unlessOld(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "404") {
		return false
	}
	must(t, err)
	return true
}

func TestTheSettingsOfAutopilotAreKept(t *testing.T) {
	operator := client(t).Operator()
	before, err := operator.AutopilotGetConfiguration(nil)
	must(t, err)
	if !before.CleanupDeadServers || before.MaxTrailingLogs == 0 {
		t.Fatalf("%+v", before)
	}
	t.Cleanup(func() { must(t, operator.AutopilotSetConfiguration(before, nil)) })
	changed := *before
	changed.CleanupDeadServers = false
	changed.LastContactThreshold = api.NewReadableDuration(time.Second)
	ok, err := operator.AutopilotCASConfiguration(&changed, nil)
	must(t, err)
	if !ok {
		t.Fatal("nobody else has changed it")
	}
	changed.MaxTrailingLogs = 7
	ok, err = operator.AutopilotCASConfiguration(&changed, nil)
	must(t, err)
	if ok {
		t.Fatal("it was changed since")
	}
	now, err := operator.AutopilotGetConfiguration(nil)
	must(t, err)
	if now.CleanupDeadServers || *now.LastContactThreshold != api.ReadableDuration(time.Second) ||
		now.MaxTrailingLogs != before.MaxTrailingLogs || now.ModifyIndex <= before.ModifyIndex {
		t.Fatalf("%+v", now)
	}
}

// whenHealthy returns the health of the servers. A real server finds out only some seconds after its start that it is well;
// reads that wait for a key that never comes pass the time.
func whenHealthy(t *testing.T, c *api.Client) *api.OperatorHealthReply {
	t.Helper()
	var health *api.OperatorHealthReply
	for tries := 0; tries < 100 && (health == nil || !health.Healthy); tries++ {
		if tries > 0 {
			_, meta, err := c.KV().Get("operator/no-such-key", nil)
			must(t, err)
			wait := &api.QueryOptions{WaitIndex: meta.LastIndex, WaitTime: 300 * time.Millisecond}
			_, _, err = c.KV().Get("operator/no-such-key", wait)
			must(t, err)
		}
		now, err := c.Operator().AutopilotServerHealth(nil)
		must(t, err)
		health = now
	}
	return health
}

func TestTheOnlyServerIsWellAndLeads(t *testing.T) {
	c := client(t)
	name, err := c.Agent().NodeName()
	must(t, err)
	health := whenHealthy(t, c)
	if !health.Healthy || health.FailureTolerance != 0 || len(health.Servers) != 1 || health.Servers[0].Name != name ||
		!health.Servers[0].Leader || !health.Servers[0].Voter {
		t.Fatalf("%+v", health)
	}
	state, err := c.Operator().AutopilotState(nil)
	if unlessOld(t, err) {
		id := health.Servers[0].ID
		if !state.Healthy || state.Leader != id || len(state.Voters) != 1 || state.Servers[id].Name != name {
			t.Fatalf("%+v", state)
		}
	}
	raft, err := c.Operator().RaftGetConfiguration(nil)
	must(t, err)
	if len(raft.Servers) != 1 || !raft.Servers[0].Leader || raft.Servers[0].ID != health.Servers[0].ID {
		t.Fatalf("%+v", raft)
	}
	err = c.Operator().RaftRemovePeerByAddress("10.0.0.1:8300", nil)
	refused(t, "a peer that is unknown", err, "address \"10.0.0.1:8300\" was not found in the Raft configuration")
	err = c.Operator().RaftRemovePeerByID("nope", nil)
	refused(t, "a peer that is unknown", err, "id \"nope\" was not found in the Raft configuration")
	if _, err = c.Operator().RaftLeaderTransfer("", nil); err == nil {
		t.Fatal("there is no other server")
	}
}

func TestWithoutEncryptionThereAreNoKeys(t *testing.T) {
	operator := client(t).Operator()
	_, err := operator.KeyringList(nil)
	refused(t, "a list", err, "500")
	const key = "pUqJrVyVRj5jsiYEkM/tFQYfWyJIv4s3XkvDwy7Cu5s="
	refused(t, "install", operator.KeyringInstall(key, nil), "500")
	refused(t, "use", operator.KeyringUse(key, nil), "500")
	refused(t, "remove", operator.KeyringRemove(key, nil), "500")
}

func TestUsageCountsServices(t *testing.T) {
	c := client(t)
	usage, _, err := c.Operator().Usage(nil)
	if !unlessOld(t, err) {
		return
	}
	before := usage.Usage["dc1"]
	must(t, c.Agent().ServiceRegister(&api.AgentServiceRegistration{Name: "counted"}))
	t.Cleanup(func() { must(t, c.Agent().ServiceDeregister("counted")) })
	for deadline := time.Now().Add(10 * time.Second); ; {
		usage, _, err = c.Operator().Usage(nil)
		must(t, err)
		now := usage.Usage["dc1"]
		if now.Services == before.Services+1 && now.ServiceInstances == before.ServiceInstances+1 && now.Nodes == before.Nodes {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v, then %+v", before, now)
		}
	}
}

func TestASnapshotBringsBackWhatWas(t *testing.T) {
	c := client(t)
	pair := &api.KVPair{Key: "interop/go/operator", Value: []byte{0, 0xff}, Flags: 42}
	_, err := c.KV().Put(pair, nil)
	must(t, err)
	saved, meta, err := c.Snapshot().Save(nil)
	must(t, err)
	archive, err := io.ReadAll(saved)
	must(t, err)
	must(t, saved.Close())
	if meta.LastIndex == 0 || !meta.KnownLeader {
		t.Fatalf("%+v", meta)
	}
	_, err = c.KV().DeleteTree("", nil)
	must(t, err)

	refused(t, "half of it", c.Snapshot().Restore(nil, bytes.NewReader(archive[:len(archive)/2])), "500")
	refused(t, "garbage", c.Snapshot().Restore(nil, strings.NewReader("garbage")), "500")
	none, _, err := c.KV().Get(pair.Key, nil)
	must(t, err)
	if none != nil {
		t.Fatal("what is refused restores nothing")
	}

	must(t, c.Snapshot().Restore(nil, bytes.NewReader(archive)))
	back, _, err := c.KV().Get(pair.Key, nil)
	must(t, err)
	if back == nil || !bytes.Equal(back.Value, pair.Value) || back.Flags != 42 {
		t.Fatalf("%+v", back)
	}
	_, err = c.KV().Delete(pair.Key, nil)
	must(t, err)
}

func TestCoordinatesAreWrittenAndRead(t *testing.T) {
	c := client(t)
	const node = "interop-go-coordinates"
	_, err := c.Catalog().Register(&api.CatalogRegistration{Node: node, Address: "10.0.0.9"}, nil)
	must(t, err)
	t.Cleanup(func() {
		_, err := c.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil)
		must(t, err)
	})
	place := coordinate.NewCoordinate(coordinate.DefaultConfig())
	place.Height = 0.25
	place.Vec[3] = 1.5
	_, err = c.Coordinate().Update(&api.CoordinateEntry{Node: node, Coord: place}, nil)
	must(t, err)
	// A real one keeps updates for some seconds.
	for deadline := time.Now().Add(30 * time.Second); ; {
		found, _, err := c.Coordinate().Node(node, nil)
		if err == nil && len(found) == 1 {
			if found[0].Coord.Vec[3] != 1.5 || math.Abs(found[0].Coord.Height-0.25) > 1e-9 {
				t.Fatalf("%+v", found[0].Coord)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v, %v", found, err)
		}
	}
	all, _, err := c.Coordinate().Nodes(nil)
	must(t, err)
	seen := false
	for _, entry := range all {
		seen = seen || entry.Node == node
	}
	if !seen {
		t.Fatalf("%+v", all)
	}
	datacenters, err := c.Coordinate().Datacenters()
	must(t, err)
	if len(datacenters) != 1 || datacenters[0].Datacenter != "dc1" {
		t.Fatalf("%+v", datacenters)
	}
}

func TestTheLogIsFollowed(t *testing.T) {
	c := client(t)
	agent := c.Agent()
	// A real Consul answers with the first line, and logs each request.
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				_, _ = c.Status().Leader()
			}
		}
	}()
	for _, monitor := range []func(string, <-chan struct{}, *api.QueryOptions) (chan string, error){agent.Monitor, agent.MonitorJSON} {
		ctx, cancel := context.WithCancel(context.Background())
		stop := make(chan struct{})
		lines, err := monitor("debug", stop, (&api.QueryOptions{}).WithContext(ctx))
		must(t, err)
		// The client looks at stop between two lines, and an emulator inside a test has none to send.
		close(stop)
		cancel()
		for range lines {
		}
		_, err = monitor("loud", make(chan struct{}), nil)
		refused(t, "a level that is none", err, "Unknown log level: loud")
	}
}

func TestTheAgentTellsOfItsHostAndMetrics(t *testing.T) {
	agent := client(t).Agent()
	host, err := agent.Host()
	must(t, err)
	for _, part := range []string{"CPU", "Disk", "Host", "Memory"} {
		if _, there := host[part]; !there {
			t.Fatalf("no %s in %+v", part, host)
		}
	}
	metrics, err := agent.Metrics()
	must(t, err)
	if metrics.Timestamp == "" {
		t.Fatalf("%+v", metrics)
	}
}
