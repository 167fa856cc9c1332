// Command contender is one of many who want the same lock, or one of two slots: it takes it, says so at a place
// outside of Consul, gives it back, and begins again.
//
//	contender lock|semaphore <prefix> <host:port of the place>
package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/hashicorp/consul/api"
)

// ttl is so long that a machine that is busy for some seconds costs no session its life: it lapses after twice as long.
const ttl = "5s"

// contended is what api.Lock and api.Semaphore have in common.
type contended interface {
	take() (<-chan struct{}, error)
	give() error
}

type lock struct{ *api.Lock }

func (l lock) take() (<-chan struct{}, error) { return l.Lock.Lock(nil) }
func (l lock) give() error                    { return l.Unlock() }

type semaphore struct{ *api.Semaphore }

func (s semaphore) take() (<-chan struct{}, error) { return s.Acquire(nil) }
func (s semaphore) give() error                    { return s.Release() }

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "contender lock|semaphore <prefix> <place>")
		os.Exit(2)
	}
	place := enterPlace(os.Args[3])
	for {
		// Its session is lost, or about to be: it begins again with another one.
		if err := contend(os.Args[1], os.Args[2], place); err != nil {
			fmt.Fprintln(os.Stderr, "contender in Go:", err)
		}
	}
}

// contend goes on for as long as its session lives.
func contend(mode, prefix string, place *place) error {
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		return err
	}
	entry := &api.SessionEntry{Name: fmt.Sprintf("contender %d", os.Getpid()), TTL: ttl, LockDelay: time.Second}
	session, _, err := client.Session().Create(entry, nil)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = client.Session().RenewPeriodic(ttl, session, nil, done)
	}()
	for {
		// A lock of this module is for one use.
		wanted, err := contendedFor(client, mode, prefix, session)
		if err != nil {
			return err
		}
		lost, err := wanted.take()
		if err != nil {
			return err
		}
		who := fmt.Sprintf("%s %s", session, lockIndex(client, mode, prefix))
		place.visit(who, lost, ended)
		if err = wanted.give(); err != nil {
			return err
		}
		place.asks("rest")
		select {
		case <-ended:
			return errors.New("the session is lost")
		default:
		}
	}
}

func contendedFor(client *api.Client, mode, prefix, session string) (contended, error) {
	if mode == "lock" {
		made, err := client.LockOpts(&api.LockOptions{Key: prefix + "/.lock", Session: session})
		return lock{made}, err
	}
	made, err := client.SemaphoreOpts(&api.SemaphoreOptions{Prefix: prefix, Limit: 2, Session: session})
	return semaphore{made}, err
}

// lockIndex tells which turn of the lock this is; a semaphore has none.
func lockIndex(client *api.Client, mode, prefix string) string {
	if mode != "lock" {
		return "-"
	}
	pair, _, err := client.KV().Get(prefix+"/.lock", nil)
	if err != nil || pair == nil {
		return "?"
	}
	return fmt.Sprint(pair.LockIndex)
}

// place is where the work is done.
type place struct {
	connection net.Conn
	heard      chan string
}

func enterPlace(address string) *place {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "contender in Go:", err)
		os.Exit(1)
	}
	entered := &place{connection, make(chan string)}
	go func() {
		lines := bufio.NewScanner(connection)
		for lines.Scan() {
			entered.heard <- lines.Text()
		}
		// The place is open as long as we run.
		os.Exit(1)
	}()
	return entered
}

func (p *place) say(line string) {
	if _, err := fmt.Fprintln(p.connection, line); err != nil {
		os.Exit(1)
	}
}

func (p *place) asks(word string) {
	p.say(word)
	for <-p.heard != word {
	}
}

// visit is the work: whoever is inside believes that it may be. It ends early when the lock or the session is lost.
func (p *place) visit(who string, lost, ended <-chan struct{}) {
	select {
	case <-lost:
		return
	case <-ended:
		return
	default:
	}
	p.say(fmt.Sprintf("enter go %d %s", os.Getpid(), who))
	select {
	case <-lost:
	case <-ended:
	case <-p.heard:
	}
	p.asks("leave")
}
