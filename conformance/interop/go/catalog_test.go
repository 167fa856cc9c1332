package interop

import (
	"fmt"
	"os"
	"testing"

	"github.com/hashicorp/consul/api"
	"github.com/hashicorp/consul/api/watch"
)

func TestTheCatalogTellsWhatWasRegistered(t *testing.T) {
	c := client(t)
	node := fmt.Sprintf("interop-go-%d", os.Getpid())
	service := node + "-web"
	// Not by c.Catalog().Register: this release of the client sends fields that Consul 1.8 refuses.
	_, err := c.Raw().Write("/v1/catalog/register", map[string]any{
		"Node": node, "Address": "10.0.0.7", "NodeMeta": map[string]string{"rack": "7"},
		"Service": map[string]any{"ID": "web-1", "Service": service, "Port": 80, "Tags": []string{"blue"}},
		"Checks": []map[string]any{
			{"CheckID": "serfHealth", "Name": "serfHealth", "Status": "passing"},
			{"CheckID": "http", "Name": "http", "Status": "passing", "ServiceID": "web-1"},
		},
	}, nil, nil)
	must(t, err)
	t.Cleanup(func() {
		_, err := c.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil)
		must(t, err)
	})
	found, _, err := c.Catalog().Node(node, nil)
	must(t, err)
	if found.Node.Meta["rack"] != "7" || found.Services["web-1"].Port != 80 {
		t.Fatalf("%+v", found)
	}
	entries, _, err := c.Health().Service(service, "blue", true, nil)
	must(t, err)
	if len(entries) != 1 || entries[0].Checks.AggregatedStatus() != api.HealthPassing {
		t.Fatalf("%+v", entries)
	}
	services, _, err := c.Catalog().Services(nil)
	must(t, err)
	if len(services[service]) != 1 {
		t.Fatalf("%v", services)
	}
	id := session(t, c, &api.SessionEntry{
		Node: node, NodeChecks: []string{"serfHealth"}, ServiceChecks: []api.ServiceCheck{{ID: "http"}},
	})
	_, err = c.Catalog().Deregister(&api.CatalogDeregistration{Node: node, CheckID: "http"}, nil)
	must(t, err)
	entry, _, err := c.Session().Info(id, nil)
	must(t, err)
	if entry != nil {
		t.Fatalf("the session outlived its check: %+v", entry)
	}
}

func TestTheClusterHasALeaderAndTheAgentAName(t *testing.T) {
	c := client(t)
	leader, err := c.Status().Leader()
	must(t, err)
	peers, err := c.Status().Peers()
	must(t, err)
	if leader == "" || len(peers) != 1 {
		t.Fatalf("leader %q of %v", leader, peers)
	}
	name, err := c.Agent().NodeName()
	must(t, err)
	members, err := c.Agent().Members(false)
	must(t, err)
	if len(members) != 1 || members[0].Name != name {
		t.Fatalf("%s is not in %v", name, members)
	}
	checks, _, err := c.Health().Node(name, nil)
	must(t, err)
	if len(checks) == 0 || checks[0].CheckID != "serfHealth" {
		t.Fatalf("%+v", checks)
	}
}

func TestWatchPlansSeeChanges(t *testing.T) {
	c := client(t)
	p := prefix(t, c)
	plan, err := watch.Parse(map[string]interface{}{"type": "key", "key": p + "k"})
	must(t, err)
	seen := make(chan string)
	plan.Handler = func(_ uint64, value interface{}) {
		if pair, ok := value.(*api.KVPair); ok && pair != nil {
			seen <- string(pair.Value)
		}
	}
	ended := make(chan error)
	go func() { ended <- plan.Run(os.Getenv("CONSUL_HTTP_ADDR")) }()
	for _, value := range []string{"1", "2"} {
		_, err := c.KV().Put(&api.KVPair{Key: p + "k", Value: []byte(value)}, nil)
		must(t, err)
		if got := <-seen; got != value {
			t.Fatalf("saw %s", got)
		}
	}
	plan.Stop()
	must(t, <-ended)
}
