// Command worker does a job that only one worker may do at a time: it works until its standard input ends.
//
// The session has a TTL and the behavior delete, so nothing is left of a worker that dies.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/hashicorp/consul/api"
)

const ttl = "15s"

func main() {
	key := flag.String("key", "service/job/leader", "what the job is locked by")
	flag.Parse()
	if err := work(*key); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func work(key string) error {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return err
	}
	id, _, err := client.Session().Create(&api.SessionEntry{TTL: ttl, Behavior: api.SessionBehaviorDelete}, nil)
	if err != nil {
		return err
	}
	// Closing it ends the renewals, and with them the session.
	done, renewed := make(chan struct{}), make(chan error, 1)
	go func() { renewed <- client.Session().RenewPeriodic(ttl, id, nil, done) }()
	end := func() error {
		close(done)
		return <-renewed
	}

	acquired, _, err := client.KV().Acquire(&api.KVPair{Key: key, Value: []byte(id), Session: id}, nil)
	if err != nil {
		return err
	}
	if !acquired {
		fmt.Println("somebody else does it")
		return end()
	}
	fmt.Println("working")
	finished := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(finished)
	}()
	select {
	case <-finished:
		fmt.Println("finished")
	case <-interrupted:
		fmt.Println("interrupted, cleaning up")
	case err := <-renewed:
		return fmt.Errorf("the session ended in the middle of the work: %w", err)
	}
	return end()
}
