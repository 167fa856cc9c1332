// Command lock holds the lock of Vault's storage on Consul, and writes as an active node of Vault does: through the backend.
//
// Until 1.14.3 a write does not say under which lock it is made. An active node that cannot renew its session, and whose
// monitor read gets no answer, goes on writing after another node became active. Then writes became transactions that check
// the session of the lock (hashicorp/vault#23013).
package main

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/physical/consul"
	"github.com/hashicorp/vault/sdk/physical"

	"proconsul/bugs/contender"
)

func main() {
	c := contender.New()
	backend, err := consul.NewConsulBackend(map[string]string{
		"address":     c.Address,
		"path":        "/", // keys have no prefix
		"session_ttl": c.TTL.String(),
	}, hclog.New(&hclog.LoggerOptions{Level: hclog.Warn}))
	contender.Must(err)
	write := func(ctx context.Context, value string) error {
		return backend.Put(ctx, &physical.Entry{Key: contender.WorkKey, Value: []byte(value)})
	}
	for {
		if err := once(c, backend.(physical.HABackend), write); err != nil {
			contender.Rest(err)
		}
	}
}

// once takes the lock, works until it is lost, and gives it up.
func once(c *contender.Contender, backend physical.HABackend, write func(context.Context, string) error) error {
	lock, err := backend.LockWith(contender.LockKey, c.Name)
	if err != nil {
		return err
	}
	lost, err := lock.Lock(nil)
	if err != nil {
		return err
	}
	if lost == nil {
		return errors.New("the lock was not taken")
	}
	if fencing, ok := backend.(interface{ RegisterActiveNodeLock(physical.Lock) error }); ok {
		if err := fencing.RegisterActiveNodeLock(lock); err != nil {
			return err
		}
	}
	c.Hold(lost, write)
	return lock.Unlock()
}
