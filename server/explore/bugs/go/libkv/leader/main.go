// Command leader runs for election with docker/leadership on a docker/libkv store, as leadership's README does.
//
// The loop that renews the session ends silently when Consul answers that there is no such session, and drops every other
// error. The lock-delay is 1 ms, so the next leader begins at once. A leader whose monitor read gets no answer does not learn
// of it (docker-archive/leadership#2 and docker/libkv#120 prefer liveness to safety).
package main

import (
	"context"
	"errors"

	"github.com/docker/leadership"
	"github.com/docker/libkv"
	"github.com/docker/libkv/store"
	"github.com/docker/libkv/store/consul"

	"proconsul/bugs/contender"
)

func main() {
	c := contender.New()
	consul.Register()
	kv, err := libkv.NewStore(store.CONSUL, []string{c.Address}, &store.Config{})
	contender.Must(err)
	// Its session has half of this as its TTL.
	candidate := leadership.NewCandidate(kv, contender.LockKey, c.Name, 2*c.TTL)
	for {
		if err := run(c, kv, candidate); err != nil {
			contender.Rest(err)
		}
	}
}

// run takes part in elections until the candidate gives up with an error.
func run(c *contender.Contender, kv store.Store, candidate *leadership.Candidate) error {
	elected, failed := candidate.RunForElection()
	write := func(_ context.Context, value string) error {
		return kv.Put(contender.WorkKey, []byte(value), nil)
	}
	end := func() {}
	defer func() { end() }()
	for {
		select {
		case leads, open := <-elected:
			end()
			end = func() {}
			if !open {
				return errors.New("the election ended")
			}
			if leads {
				end = c.Begin(write)
			}
		case err := <-failed:
			return err
		}
	}
}
