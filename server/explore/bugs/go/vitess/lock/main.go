// Command lock locks a directory of Vitess's topology on Consul, and waits for it no longer than a few seconds.
//
// Until v0.11.0 a wait that ended without the lock was reported as success, and nothing ever says that such a lock is lost
// (vitessio/vitess#8309).
package main

import (
	"context"
	"time"

	"vitess.io/vitess/go/vt/topo"
	"vitess.io/vitess/go/vt/topo/consultopo"

	"proconsul/bugs/contender"
)

const (
	// The key of the lock is "Lock" in this directory, which exists as long as there is a file in it.
	directory = contender.LockKey
	file      = directory + "/Keyspace"

	// patience is for one attempt. Vitess has no shorter name for it than a context with a deadline.
	patience = 3 * time.Second
	// rhythm is that of the checks, which a holder makes before each step of its work.
	rhythm = 50 * time.Millisecond
)

func main() {
	c := contender.New()
	server, err := consultopo.NewServer("global", c.Address, "")
	contender.Must(err)
	if _, err := server.Create(context.Background(), file, nil); err != nil && !topo.IsErrType(err, topo.NodeExists) {
		contender.Must(err)
	}
	for {
		if err := once(c, server); err != nil {
			contender.Rest(err)
		}
	}
}

// once takes the lock, works until a check says that it is lost, and gives it up.
func once(c *contender.Contender, server *consultopo.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock, err := server.Lock(ctx, directory, c.Name)
	if err != nil {
		return err
	}
	end := c.Begin(func(ctx context.Context, value string) error {
		_, err := server.Update(ctx, contender.WorkKey, []byte(value), nil)
		return err
	})
	for lock.Check(context.Background()) == nil {
		time.Sleep(rhythm)
	}
	end()
	return lock.Unlock(context.Background())
}
