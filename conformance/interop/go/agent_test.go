package interop

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// unique is a name of a service or check that no other test uses.
func unique(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("interop-go-%s-%d", t.Name(), os.Getpid())
}

// register gives the agent a service and takes it away when the test ends.
func register(t *testing.T, c *api.Client, service *api.AgentServiceRegistration) {
	t.Helper()
	must(t, c.Agent().ServiceRegister(service))
	id := service.ID
	if id == "" {
		id = service.Name
	}
	t.Cleanup(func() {
		services, err := c.Agent().Services()
		must(t, err)
		if services[id] != nil {
			must(t, c.Agent().ServiceDeregister(id))
		}
	})
}

// follow reads with blocking queries until what it sees is what the test waits for.
func follow(t *testing.T, what string, seen func(*api.QueryOptions) (bool, *api.QueryMeta, error)) {
	t.Helper()
	options := &api.QueryOptions{WaitTime: 10 * time.Second}
	for {
		ok, meta, err := seen(options)
		must(t, err)
		if ok {
			return
		}
		if meta.LastIndex == options.WaitIndex {
			t.Fatalf("nothing came after index %d: %s", meta.LastIndex, what)
		}
		options.WaitIndex = meta.LastIndex
	}
}

// catalogSays waits until the catalog has one instance of a service, of this state.
func catalogSays(t *testing.T, c *api.Client, service, state string) *api.ServiceEntry {
	t.Helper()
	var found *api.ServiceEntry
	follow(t, service+" is "+state, func(options *api.QueryOptions) (bool, *api.QueryMeta, error) {
		entries, meta, err := c.Health().Service(service, "", false, options)
		if err != nil || len(entries) != 1 {
			return false, meta, err
		}
		found = entries[0]
		return found.Checks.AggregatedStatus() == state, meta, nil
	})
	passing, _, err := c.Health().Service(service, "", true, nil)
	must(t, err)
	if (len(passing) == 1) != (state == api.HealthPassing) {
		t.Fatalf("%s is %s, and %d instances pass", service, state, len(passing))
	}
	return found
}

// agentSays asks the agent itself, by the service's name and by its id.
func agentSays(t *testing.T, c *api.Client, name, id, state string) {
	t.Helper()
	// The client knows a state by the status of the answer, of which maintenance has none of its own.
	overall := state
	if state == api.HealthMaint {
		overall = api.HealthCritical
	}
	got, infos, err := c.Agent().AgentHealthServiceByName(name)
	must(t, err)
	if got != overall || len(infos) != 1 || infos[0].AggregatedStatus != state || infos[0].Service.ID != id {
		t.Fatalf("%s is %s, %+v, and not %s", name, got, infos, state)
	}
	got, info, err := c.Agent().AgentHealthServiceByID(id)
	must(t, err)
	if got != overall || info.AggregatedStatus != state || info.Service.Service != name {
		t.Fatalf("%s is %s, %+v, and not %s", id, got, info, state)
	}
}

func TestAServiceLivesWithItsTTLCheck(t *testing.T) {
	c := client(t)
	name := unique(t)
	id, check := name+"-1", "alive-"+name
	register(t, c, &api.AgentServiceRegistration{
		ID: id, Name: name, Port: 80, Address: "10.0.0.7", Tags: []string{"blue"}, Meta: map[string]string{"rack": "7"},
		Weights: &api.AgentWeights{Passing: 3, Warning: 1},
		Checks: api.AgentServiceChecks{
			{CheckID: check, Name: "alive", TTL: "1h", Notes: "says it itself"},
			{Name: "born well", TTL: "1h", Status: api.HealthPassing},
		},
	})
	entry := catalogSays(t, c, name, api.HealthCritical)
	if entry.Service.ID != id || entry.Service.Port != 80 || entry.Service.Address != "10.0.0.7" ||
		entry.Service.Tags[0] != "blue" || entry.Service.Meta["rack"] != "7" || entry.Service.Weights.Passing != 3 {
		t.Fatalf("%+v", entry.Service)
	}
	agentSays(t, c, name, id, api.HealthCritical)
	for _, step := range []struct {
		state string
		tell  func(check, note string) error
	}{
		{api.HealthPassing, c.Agent().PassTTL},
		{api.HealthWarning, c.Agent().WarnTTL},
		{api.HealthCritical, c.Agent().FailTTL},
		{api.HealthPassing, func(check, note string) error { return c.Agent().UpdateTTL(check, note, api.HealthPassing) }},
		{api.HealthCritical, func(check, note string) error { return c.Agent().UpdateTTL(check, note, "fail") }},
	} {
		note := "it is " + step.state
		must(t, step.tell(check, note))
		agentSays(t, c, name, id, step.state)
		checks, err := c.Agent().Checks()
		must(t, err)
		if got := checks[check]; got.Status != step.state || got.Output != note || got.ServiceID != id || got.Notes == "" {
			t.Fatalf("%+v", got)
		}
		for _, got := range catalogSays(t, c, name, step.state).Checks {
			if got.CheckID == check && got.Output != note {
				t.Fatalf("%+v", got)
			}
		}
	}
	must(t, c.Agent().ServiceDeregister(id))
	follow(t, id+" is gone", func(options *api.QueryOptions) (bool, *api.QueryMeta, error) {
		entries, meta, err := c.Catalog().Service(name, "", options)
		return len(entries) == 0, meta, err
	})
	checks, err := c.Agent().Checks()
	must(t, err)
	if checks[check] != nil {
		t.Fatalf("the check outlived its service: %+v", checks[check])
	}
	if err := c.Agent().PassTTL(check, ""); err == nil {
		t.Fatal("a check that is gone was told something")
	}
	state, info, err := c.Agent().AgentHealthServiceByID(id)
	must(t, err)
	if state != api.HealthCritical || info != nil {
		t.Fatalf("%s %+v", state, info)
	}
}

func TestTheAgentsServicesAndChecksAreReadAndFiltered(t *testing.T) {
	c := client(t)
	blue, green := unique(t)+"-blue", unique(t)+"-green"
	register(t, c, &api.AgentServiceRegistration{Name: blue, Port: 80, Tags: []string{"blue"}})
	register(t, c, &api.AgentServiceRegistration{Name: green, Port: 81, Check: &api.AgentServiceCheck{TTL: "1h"}})
	services, err := c.Agent().Services()
	must(t, err)
	if services[blue].Port != 80 || services[green].Port != 81 {
		t.Fatalf("%v", services)
	}
	mine := fmt.Sprintf("Service == %q or Service == %q", blue, green)
	services, err = c.Agent().ServicesWithFilter(fmt.Sprintf("(%s) and blue in Tags", mine))
	must(t, err)
	if len(services) != 1 || services[blue].Service != blue {
		t.Fatalf("%v", services)
	}
	checks, err := c.Agent().ChecksWithFilter(fmt.Sprintf("ServiceName == %q and Status == critical", green))
	must(t, err)
	if len(checks) != 1 || checks["service:"+green].Name != "Service '"+green+"' check" {
		t.Fatalf("%v", checks)
	}
	if _, err := c.Agent().ServicesWithFilter("Nope == 1"); err == nil {
		t.Fatal("a filter of an unknown field was taken")
	}
	service, meta, err := c.Agent().Service(blue, nil)
	must(t, err)
	if service.Port != 80 || service.ContentHash == "" || meta.LastContentHash != service.ContentHash {
		t.Fatalf("%+v %+v", service, meta)
	}
	// The next state of a service comes as an answer to who knows the hash of the former.
	changed := make(chan error, 1)
	go func() {
		changed <- c.Agent().ServiceRegister(&api.AgentServiceRegistration{Name: blue, Port: 82})
	}()
	service, _, err = c.Agent().Service(blue, &api.QueryOptions{WaitHash: service.ContentHash, WaitTime: 10 * time.Second})
	must(t, <-changed)
	must(t, err)
	if service.Port != 82 || len(service.Tags) != 0 {
		t.Fatalf("%+v", service)
	}
	_, _, err = c.Agent().Service(unique(t), nil)
	if err == nil || !strings.Contains(err.Error(), "404") {
		t.Fatalf("a service that does not exist: %v", err)
	}
}

func TestAServiceIsReplacedWithItsChecks(t *testing.T) {
	c := client(t)
	name := unique(t)
	check := func(id string) api.AgentServiceChecks {
		return api.AgentServiceChecks{{CheckID: id + name, TTL: "1h", Status: api.HealthPassing}}
	}
	register(t, c, &api.AgentServiceRegistration{Name: name, Checks: check("old")})
	for _, replace := range []bool{false, true} {
		service := &api.AgentServiceRegistration{Name: name, Checks: check("new")}
		must(t, c.Agent().ServiceRegisterOpts(service, api.ServiceRegisterOpts{ReplaceExistingChecks: replace}))
		checks, err := c.Agent().ChecksWithFilter(fmt.Sprintf("ServiceName == %q", name))
		must(t, err)
		if checks["new"+name] == nil || (checks["old"+name] == nil) != replace {
			t.Fatalf("replacing is %v: %v", replace, checks)
		}
	}
}

func TestChecksOfTheNodeAndOfAServiceAreAddedAndTakenAway(t *testing.T) {
	c := client(t)
	name := unique(t)
	register(t, c, &api.AgentServiceRegistration{Name: name})
	catalogSays(t, c, name, api.HealthPassing)
	ofNode, ofService := "node-"+name, "service-"+name
	must(t, c.Agent().CheckRegister(&api.AgentCheckRegistration{
		ID: ofNode, Name: "of the node", AgentServiceCheck: api.AgentServiceCheck{TTL: "1h", Status: api.HealthPassing},
	}))
	t.Cleanup(func() { must(t, c.Agent().CheckDeregister(ofNode)) })
	checks, err := c.Agent().Checks()
	must(t, err)
	if got := checks[ofNode]; got.Name != "of the node" || got.ServiceID != "" || got.Type != "ttl" {
		t.Fatalf("%+v", got)
	}
	node, err := c.Agent().NodeName()
	must(t, err)
	follow(t, ofNode, func(options *api.QueryOptions) (bool, *api.QueryMeta, error) {
		checks, meta, err := c.Health().Node(node, options)
		for _, check := range checks {
			if check.CheckID == ofNode && check.Status == api.HealthPassing {
				return true, meta, err
			}
		}
		return false, meta, err
	})
	check := &api.AgentCheckRegistration{
		ID: ofService, Name: "of the service", ServiceID: name, AgentServiceCheck: api.AgentServiceCheck{TTL: "1h"},
	}
	must(t, c.Agent().CheckRegister(check))
	catalogSays(t, c, name, api.HealthCritical)
	must(t, c.Agent().CheckDeregister(ofService))
	catalogSays(t, c, name, api.HealthPassing)
	check.ServiceID = "none-" + name
	if err := c.Agent().CheckRegister(check); err == nil {
		t.Fatal("a check of a service that does not exist was taken")
	}
}

func TestMaintenanceOfAServiceAndOfTheNode(t *testing.T) {
	c := client(t)
	name := unique(t)
	register(t, c, &api.AgentServiceRegistration{Name: name})
	catalogSays(t, c, name, api.HealthPassing)
	for _, what := range []struct {
		check           string
		enable, disable func() error
	}{
		{
			"_service_maintenance:" + name,
			func() error { return c.Agent().EnableServiceMaintenance(name, "because & so") },
			func() error { return c.Agent().DisableServiceMaintenance(name) },
		},
		{
			"_node_maintenance",
			func() error { return c.Agent().EnableNodeMaintenance("because & so") },
			func() error { return c.Agent().DisableNodeMaintenance() },
		},
	} {
		disable := what.disable
		must(t, what.enable())
		t.Cleanup(func() { must(t, disable()) })
		checks, err := c.Agent().Checks()
		must(t, err)
		if got := checks[what.check]; got == nil || got.Status != api.HealthCritical || got.Notes != "because & so" {
			t.Fatalf("%s: %+v", what.check, got)
		}
		agentSays(t, c, name, name, api.HealthMaint)
		catalogSays(t, c, name, api.HealthMaint)
		must(t, disable())
		agentSays(t, c, name, name, api.HealthPassing)
		catalogSays(t, c, name, api.HealthPassing)
	}
	if err := c.Agent().EnableServiceMaintenance("none-"+name, ""); err == nil {
		t.Fatal("a service that does not exist is in maintenance")
	}
}

func TestTheAgentTellsAboutItself(t *testing.T) {
	c := client(t)
	self, err := c.Agent().Self()
	must(t, err)
	name, ok := self["Config"]["NodeName"].(string)
	if !ok || name == "" || self["Config"]["Server"] != true || self["Member"]["Name"] != name {
		t.Fatalf("%+v", self)
	}
	members, err := c.Agent().MembersOpts(api.MembersOpts{Segment: api.AllSegments})
	must(t, err)
	if len(members) != 1 || members[0].Name != name || members[0].Tags["role"] != "consul" {
		t.Fatalf("%+v", members)
	}
	// A reload reads the files again: of this service they know nothing, and an agent in development mode has no data
	// directory to keep it in.
	if directory, _ := self["DebugConfig"]["DataDir"].(string); directory == "" {
		service := unique(t)
		register(t, c, &api.AgentServiceRegistration{Name: service})
		must(t, c.Agent().Reload())
		services, err := c.Agent().Services()
		must(t, err)
		if services[service] != nil {
			t.Fatalf("%+v outlived the reload", services[service])
		}
	}
}
