package operator

import (
	"reflect"
	"testing"

	"github.com/hashicorp/consul/api"
)

// entries holds one of each kind, in the order in which they can be set; later ones are deleted first.
func entries() []api.ConfigEntry {
	const name = "interop-go"
	other := api.ResourceReference{Kind: api.APIGateway, Name: name}
	return []api.ConfigEntry{
		&api.ProxyConfigEntry{Kind: api.ProxyDefaults, Name: api.ProxyConfigGlobal, Config: map[string]interface{}{"protocol": "http"}},
		&api.ServiceConfigEntry{Kind: api.ServiceDefaults, Name: name, Protocol: "http"},
		&api.ServiceResolverConfigEntry{Kind: api.ServiceResolver, Name: name, DefaultSubset: "v1",
			Subsets: map[string]api.ServiceResolverSubset{"v1": {Filter: "Service.Meta.version == v1"}, "v2": {OnlyPassing: true}}},
		&api.ServiceSplitterConfigEntry{Kind: api.ServiceSplitter, Name: name,
			Splits: []api.ServiceSplit{{Weight: 90, ServiceSubset: "v1"}, {Weight: 10, ServiceSubset: "v2"}}},
		&api.ServiceRouterConfigEntry{Kind: api.ServiceRouter, Name: name, Routes: []api.ServiceRoute{{
			Match:       &api.ServiceRouteMatch{HTTP: &api.ServiceRouteHTTPMatch{PathPrefix: "/admin"}},
			Destination: &api.ServiceRouteDestination{Service: "admin"}}}},
		&api.IngressGatewayConfigEntry{Kind: api.IngressGateway, Name: name,
			Listeners: []api.IngressListener{{Port: 8443, Protocol: "http", Services: []api.IngressService{{Name: name}}}}},
		&api.TerminatingGatewayConfigEntry{Kind: api.TerminatingGateway, Name: name + "-out", Services: []api.LinkedService{{Name: "billing"}}},
		&api.ServiceIntentionsConfigEntry{Kind: api.ServiceIntentions, Name: name,
			Sources: []*api.SourceIntention{{Name: "web", Action: api.IntentionActionAllow}}},
		&api.MeshConfigEntry{TransparentProxy: api.TransparentProxyMeshConfig{MeshDestinationsOnly: true}},
		&api.ExportedServicesConfigEntry{Name: "default", Services: []api.ExportedService{{
			Name: name, Consumers: []api.ServiceConsumer{{Peer: "elsewhere"}}}}},
		&api.APIGatewayConfigEntry{Kind: api.APIGateway, Name: name,
			Listeners: []api.APIGatewayListener{{Name: "all", Port: 8080, Protocol: "tcp"}}},
		&api.TCPRouteConfigEntry{Kind: api.TCPRoute, Name: name, Parents: []api.ResourceReference{other},
			Services: []api.TCPService{{Name: name}}},
		&api.HTTPRouteConfigEntry{Kind: api.HTTPRoute, Name: name, Parents: []api.ResourceReference{other},
			Rules: []api.HTTPRouteRule{{Services: []api.HTTPService{{Name: name, Weight: 1}}}}},
	}
}

// early are the kinds of 1.8; later releases have all.
var early = map[string]bool{
	api.ProxyDefaults: true, api.ServiceDefaults: true, api.ServiceResolver: true, api.ServiceSplitter: true,
	api.ServiceRouter: true, api.IngressGateway: true, api.TerminatingGateway: true,
}

func TestEntriesOfEachKindAreSetComparedReadAndDeleted(t *testing.T) {
	c := client(t)
	_, _, err := c.Operator().Usage(nil)
	late := unlessOld(t, err)
	config := c.ConfigEntries()
	for _, entry := range entries() {
		kind, name := entry.GetKind(), entry.GetName()
		ok, _, err := config.CAS(entry, 0, nil)
		if !late && !early[kind] {
			refused(t, kind, err, "invalid config entry kind: "+kind)
			continue
		}
		if err != nil || !ok {
			t.Fatalf("%s: %t, %v", kind, ok, err)
		}
		t.Cleanup(func() {
			_, err := config.Delete(kind, name, nil)
			must(t, err)
			_, _, err = config.Get(kind, name, nil)
			refused(t, kind, err, "404")
		})
		// An entry that is as it was is not written. Late releases say so before they compare indexes.
		ok, _, err = config.CAS(entry, 0, nil)
		if err != nil || ok != late {
			t.Fatalf("%s: it was made before: %t, %v", kind, ok, err)
		}
		first, meta, err := config.Get(kind, name, nil)
		must(t, err)
		if first.GetKind() != kind || first.GetName() != name || first.GetModifyIndex() == 0 || meta.LastIndex == 0 {
			t.Fatalf("%+v, %+v", first, meta)
		}
		// What was read can be set as it is.
		ok, _, err = config.CAS(first, first.GetModifyIndex(), nil)
		if err != nil || !ok {
			t.Fatalf("%s: %t, %v", kind, ok, err)
		}
		ok, _, err = config.Set(first, nil)
		if err != nil || !ok {
			t.Fatalf("%s: %t, %v", kind, ok, err)
		}
		again, _, err := config.Get(kind, name, nil)
		must(t, err)
		all, _, err := config.List(kind, nil)
		must(t, err)
		if len(all) != 1 || !reflect.DeepEqual(all[0], again) {
			t.Fatalf("%+v, but %+v", all, again)
		}
	}
}

func TestWhatWasReadThroughTheCacheIsAHit(t *testing.T) {
	health := client(t).Health()
	cached := &api.QueryOptions{UseCache: true}
	_, _, err := health.Service("consul", "", false, cached)
	must(t, err)
	found, meta, err := health.Service("consul", "", false, cached)
	must(t, err)
	if len(found) != 1 || !meta.CacheHit {
		t.Fatalf("%+v, %+v", found, meta)
	}
}
