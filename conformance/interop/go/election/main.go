// Command election is one candidate: it says when it leads and when it does not any more, until it is interrupted.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/hashicorp/consul/api"
)

const ttl = "15s"

// keeper holds a session and keeps it alive.
type keeper struct {
	sessions *api.Session
	id       string
	stop     chan struct{}
	ended    chan error
}

func keep(client *api.Client, name string) (*keeper, error) {
	k := &keeper{sessions: client.Session(), stop: make(chan struct{}), ended: make(chan error, 1)}
	var err error
	if k.id, _, err = k.sessions.Create(&api.SessionEntry{Name: name, TTL: ttl}, nil); err != nil {
		return nil, err
	}
	go func() { k.ended <- k.sessions.RenewPeriodic(ttl, k.id, nil, k.stop) }()
	return k, nil
}

// end destroys the session, unless it is gone already.
func (k *keeper) end() error {
	close(k.stop)
	if err := <-k.ended; err != nil && !errors.Is(err, api.ErrSessionExpired) {
		return err
	}
	return nil
}

// lead waits for the leadership, and gives a channel that is closed when it is lost.
func lead(client *api.Client, key, name, session string, stop <-chan os.Signal) (<-chan struct{}, error) {
	index := uint64(0)
	for {
		acquired, _, err := client.KV().Acquire(&api.KVPair{Key: key, Value: []byte(name), Session: session}, nil)
		if err != nil || acquired {
			lost := make(chan struct{})
			if acquired {
				go watch(client, key, session, lost)
			}
			return lost, err
		}
		looked := make(chan error, 1)
		go func() {
			pair, meta, err := client.KV().Get(key, &api.QueryOptions{WaitIndex: index})
			for err == nil && pair != nil && pair.Session != "" {
				index = meta.LastIndex
				pair, meta, err = client.KV().Get(key, &api.QueryOptions{WaitIndex: index})
			}
			looked <- err
		}()
		select {
		case err := <-looked:
			if err != nil {
				return nil, err
			}
		case <-stop:
			return nil, errStopped
		}
	}
}

var errStopped = errors.New("stopped")

// watch closes lost when the session does not hold the key any more.
func watch(client *api.Client, key, session string, lost chan<- struct{}) {
	defer close(lost)
	index := uint64(0)
	for {
		pair, meta, err := client.KV().Get(key, &api.QueryOptions{WaitIndex: index})
		if err != nil || pair == nil || pair.Session != session {
			return
		}
		index = meta.LastIndex
	}
}

func main() {
	key := flag.String("key", "service/leader", "what is locked")
	name := flag.String("name", "candidate", "what observers see")
	flag.Parse()
	if err := run(*key, *name); err != nil {
		fmt.Fprintln(os.Stderr, "election:", err)
		os.Exit(1)
	}
}

func run(key, name string) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return err
	}
	k, err := keep(client, name)
	if err != nil {
		return err
	}
	fmt.Println("candidate")
	lost, err := lead(client, key, name, k.id, stop)
	if errors.Is(err, errStopped) {
		return k.end()
	}
	if err != nil {
		return err
	}
	fmt.Println("leader")
	select {
	case <-lost:
		fmt.Println("lost")
	case <-stop:
		// Released, and not only ended with the session: the next leader need not wait for the lock-delay.
		if _, _, err := client.KV().Release(&api.KVPair{Key: key, Value: []byte(name), Session: k.id}, nil); err != nil {
			return err
		}
		<-lost
		fmt.Println("resigned")
	}
	return k.end()
}
