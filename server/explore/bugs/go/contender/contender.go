// Package contender has what all contenders share: who they are, what they print, and their guarded writes.
package contender

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	// LockKey is what contenders compete for, unless the library has its own name for the key.
	LockKey = "bugs/lock"
	// WorkKey is where the holder writes, and nobody else may.
	WorkKey = "work/item"
	// WatchedKey is what a contender without a lock watches.
	WatchedKey = "config/value"

	// pause keeps a worker from a busy loop of its own after an error.
	pause = 500 * time.Millisecond
	// rhythm is the time between two guarded writes.
	rhythm = 100 * time.Millisecond
)

// Contender is this process.
type Contender struct {
	Name    string
	Address string // of Consul, without a scheme
	// TTL and LockDelay are those of its sessions, where the library lets a user set them.
	TTL, LockDelay time.Duration

	writes int
	wrote  chan struct{} // is closed when the latest worker has ended
}

// New reads the environment. SIGTERM ends the process at once, because nothing catches it.
func New() *Contender {
	wrote := make(chan struct{})
	close(wrote)
	return &Contender{
		Name:      or("PROCONSUL_CONTENDER", "a"),
		Address:   or("CONSUL_HTTP_ADDR", "127.0.0.1:8500"),
		TTL:       duration("SESSION_TTL"),
		LockDelay: duration("LOCK_DELAY"),
		wrote:     wrote,
	}
}

// Begin starts the work of a holder. The function that it returns ends it. A write ends with its context, where the library
// takes one.
func (c *Contender) Begin(write func(ctx context.Context, value string) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	fmt.Println("held")
	before := c.wrote
	c.wrote = make(chan struct{})
	go c.work(ctx, before, c.wrote, write)
	return func() {
		// In this order, so that a write after the line is one that was under way.
		cancel()
		fmt.Println("lost")
	}
}

// Hold does the work of a holder until the library closes lost.
func (c *Contender) Hold(lost <-chan struct{}, write func(ctx context.Context, value string) error) {
	end := c.Begin(write)
	<-lost
	end()
}

// work writes until its context ends. It waits for the worker before it, whose last write may still be on its way.
func (c *Contender) work(ctx context.Context, before, done chan struct{}, write func(context.Context, string) error) {
	defer close(done)
	<-before
	next := time.NewTicker(rhythm)
	defer next.Stop()
	for ctx.Err() == nil {
		c.writes++
		if err := write(ctx, fmt.Sprintf("%s %d", c.Name, c.writes)); err != nil && ctx.Err() == nil {
			Report(err)
		}
		select {
		case <-next.C:
		case <-ctx.Done():
		}
	}
}

// Saw says which value a watch was given.
func Saw(value string) {
	fmt.Println("saw", value)
}

// Report writes an error to standard error.
func Report(err error) {
	fmt.Fprintln(os.Stderr, err)
}

// Rest reports an error, and waits before the caller tries again.
func Rest(err error) {
	Report(err)
	time.Sleep(pause)
}

// Must ends the process if there is an error: the library gave up.
func Must(err error) {
	if err != nil {
		Report(err)
		os.Exit(1)
	}
}

func duration(name string) time.Duration {
	value, err := time.ParseDuration(or(name, "1s"))
	Must(err)
	return value
}

func or(name, usual string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return usual
}
