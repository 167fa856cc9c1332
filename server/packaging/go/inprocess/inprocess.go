// Package inprocess runs proconsul inside the test's process, as WebAssembly: without a binary for the system.
// In a bubble of testing/synctest the bubble's clock is the server's.
//
//	func TestLock(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			server := inprocess.New(t)
//			client, err := api.NewClient(&api.Config{HttpClient: server.Client()})
//			...
//			time.Sleep(time.Hour)
//		})
//	}
//
// It is a module of its own because its WebAssembly runtime wants a newer Go than proconsultest does.
package inprocess

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/proconsul/proconsultest"
	"example.com/proconsul/proconsultest/internal/inside"
)

// The kinds of the module's inputs and outputs.
const (
	connects, sends, sentAll, isGone, timePasses = 0, 1, 2, 3, 4
	asks, believes, hasEnded                     = 6, 7, 8
	asksInDatagram, asksInMessage                = 9, 10
	sent, closes, resets, deadline               = 1, 2, 3, 4
	responds, directs, isOver, answers           = 5, 6, 7, 8
)

// What stands for the address of a server that does not listen.
const noAddress = "proconsul.test:8500"

var errEnded = errors.New("the server has ended with its test")

// New makes a server in this process that ends with the test, and shows what happened on it if the test fails. It ends the
// test if an option is invalid. The server is reached by its Client; with proconsultest.Listen or Port it listens, too.
func New(t testing.TB, options ...proconsultest.Option) *proconsultest.Server {
	t.Helper()
	return proconsultest.Inside(t, options, func(asked inside.Asked) (*inside.Server, error) { return open(t, asked) })
}

func open(t testing.TB, asked inside.Asked) (*inside.Server, error) {
	if asked.Listen && inBubble() {
		return nil, errors.New("in a bubble of testing/synctest a server cannot listen, because sockets stop the bubble's clock: use its Client")
	}
	instance, err := instantiate()
	if err != nil {
		return nil, err
	}
	arguments, err := json.Marshal(asked.Arguments)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	refused, err := instance.exchange(arguments, "create", rand.Uint64(), uint64(began.UnixNano()))
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("the server ended at its start: %s", refused)
	}
	if err != nil {
		instance.close()
		return nil, err
	}
	s := &server{t: t, instance: instance, began: began, connections: map[uint64]*connection{}}
	if err = s.give(timePasses, 0, nil); err == nil {
		s.agents, err = instance.agents()
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	opened := &inside.Server{Address: noAddress, Dial: s.dial, DialDNS: s.dialDNS, Log: s, End: s.stop}
	if asked.Listen {
		opened.Address, err = s.listen(asked.Port)
	}
	if err != nil {
		s.stop()
	}
	return opened, err
}

// Returns whether the caller is in a bubble of testing/synctest.
func inBubble() bool {
	stack := make([]byte, 100)
	first, _, _ := bytes.Cut(stack[:runtime.Stack(stack, false)], []byte("\n"))
	return bytes.Contains(first, []byte("synctest bubble"))
}

type server struct {
	t     testing.TB
	began time.Time

	// It is held while an input is given, and never while a request waits.
	lock     sync.Mutex
	instance *instance
	agents   int
	// By the numbers of connections, and of questions of DNS that have no answer yet.
	connections map[uint64]*connection
	last        uint64
	timer       *time.Timer
	ended       error

	listener net.Listener
	serving  sync.WaitGroup
}

// Gives the module an input, and hands on what comes out.
func (s *server) give(kind uint64, id uint64, bytes []byte) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ended != nil {
		return s.ended
	}
	if _, open := s.connections[id]; kind == isGone && !open {
		return nil
	}
	if kind == isGone {
		delete(s.connections, id)
	}
	now := time.Since(s.began)
	reply, err := s.instance.exchange(bytes, "input", uint64(now), kind, id)
	if err != nil {
		s.t.Errorf("proconsultest: %v", err)
		s.end(err)
		return err
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	for output := range outputs(reply) {
		if output.kind == deadline {
			s.timer = time.AfterFunc(time.Duration(output.number)-now, func() { s.give(timePasses, 0, nil) })
		} else if to := s.connections[output.number]; to != nil {
			s.deliver(to, output)
		}
	}
	return nil
}

func (s *server) deliver(to *connection, output output) {
	switch output.kind {
	case sent:
		to.receive(output.bytes)
	case answers:
		delete(s.connections, output.number)
		to.receive(append(binary.BigEndian.AppendUint16(nil, uint16(len(output.bytes))), output.bytes...))
	case closes, resets:
		delete(s.connections, output.number)
		if !to.asks {
			to.finish(ends[output.kind])
		}
	}
}

// What a client sees of the end of its connection.
var ends = map[byte]error{closes: io.EOF, resets: syscall.ECONNRESET}

// Cuts all connections. The lock is held.
func (s *server) end(why error) {
	s.ended = why
	if s.timer != nil {
		s.timer.Stop()
	}
	for _, one := range s.connections {
		one.finish(why)
	}
	clear(s.connections)
	s.instance.close()
}

// String returns why the server has ended.
func (s *server) String() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ended == nil {
		return ""
	}
	return s.ended.Error()
}

func (s *server) stop() {
	s.lock.Lock()
	if s.ended == nil {
		s.end(errEnded)
	}
	s.lock.Unlock()
	if s.listener != nil {
		s.listener.Close()
	}
	s.serving.Wait()
}

func (s *server) dial(_ context.Context, agent int) (net.Conn, error) {
	if agent < 0 || agent >= s.agents {
		return nil, fmt.Errorf("there is no agent %d: the server has %d, counted from 0", agent, s.agents)
	}
	return s.connect(agent)
}

func (s *server) connect(agent int) (*connection, error) {
	made := &connection{}
	made.changed.L = &made.lock
	id := s.admit(made)
	made.give = func(kind byte, bytes []byte) error { return s.give(uint64(kind), id, bytes) }
	return made, s.give(connects+uint64(agent)<<8, id, nil)
}

// Draws a number, under which something comes to a client.
func (s *server) admit(client *connection) uint64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.last++
	s.connections[s.last] = client
	return s.last
}
