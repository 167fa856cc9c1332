package test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/proconsul/proconsultest"
	"example.com/proconsul/proconsultest/inprocess"
	"github.com/hashicorp/consul/api"
)

// Registers forty instances of a service, more than fit into a datagram.
func register(t *testing.T, server *proconsultest.Server) {
	t.Helper()
	catalog := consul(t, server).Catalog()
	for at := range 40 {
		address := net.IPv4(10, 0, 0, byte(at)).String()
		instance := api.CatalogRegistration{Node: "n" + address, Address: address, Service: &api.AgentService{Service: "web", Port: 80}}
		if _, err := catalog.Register(&instance, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAResolverAsksTheServer(t *testing.T) {
	look := func(t *testing.T, server *proconsultest.Server) {
		register(t, server)
		// Consul leaves out what does not fit, and does not say so unless it is configured to. Who asks again over TCP gets all.
		server.Fault(proconsultest.FaultOptions{Effect: proconsultest.DnsTruncatedEffect{}})
		hosts, err := server.Resolver().LookupHost(t.Context(), "web.service.consul.")
		if err != nil || len(hosts) != 40 || !slices.Contains(hosts, "10.0.0.39") {
			t.Error(hosts, err)
		}
		_, instances, err := server.Resolver().LookupSRV(t.Context(), "web", "tcp", "service.consul.")
		if err != nil || len(instances) != 40 || instances[0].Port != 80 {
			t.Error(len(instances), err)
		}
		var unknown *net.DNSError
		if _, err := server.Resolver().LookupHost(t.Context(), "db.service.consul."); !errors.As(err, &unknown) || !unknown.IsNotFound {
			t.Error(err)
		}
	}
	t.Run("process", func(t *testing.T) { look(t, proconsultest.Start(t)) })
	t.Run("inside", func(t *testing.T) { look(t, inprocess.New(t)) })
	for range 2 {
		t.Run("bubble", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { look(t, inprocess.New(t)) })
		})
	}
}

func TestALookUpWaitsOnTheClockOfItsBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := inprocess.New(t)
		server.Fault(proconsultest.FaultOptions{Question: ".", Effect: proconsultest.HangEffect{}})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var failed *net.DNSError
		if _, err := server.Resolver().LookupHost(ctx, "consul.service.consul."); !errors.As(err, &failed) || !failed.IsTimeout {
			t.Error(err)
		}
		if passed := time.Since(began); passed < 5*time.Second {
			t.Errorf("it waited for %v", passed)
		}
		server.ClearFaults()
		if hosts, err := server.Resolver().LookupHost(ctx, "consul.service.consul."); err != nil || !slices.Equal(hosts, []string{"127.0.0.1"}) {
			t.Error(hosts, err)
		}
	})
}

func TestWhoGivesUpALookUpIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := inprocess.New(t)
		server.Fault(proconsultest.FaultOptions{Question: ".", Effect: proconsultest.DelayBeforeEffect{By: "1h"}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = server.Resolver().LookupHost(ctx, "consul.service.consul.")
		}()
		synctest.Wait()
		if held := server.Blocked().Held; len(held) == 0 {
			t.Error("nothing is held")
		}
		cancel()
		<-done
		synctest.Wait()
		if held := server.Blocked().Held; len(held) != 0 {
			t.Errorf("nobody waits any more for %v", held)
		}
	})
}
