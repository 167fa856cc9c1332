package inprocess

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// How long the bubble's clock moves before a contender that is over learns that nobody listens: one that tries again and
// again does not stop the clock.
const refusedAfter = 100 * time.Millisecond

// Contender is one contender of a run, from one start to the next: its way to the server, and to say what it believes.
type Contender struct {
	run    *run
	number int
	// The address by which the server knows it.
	address string
	ctx     context.Context
	cancel  context.CancelFunc
	client  *http.Client

	// The run's lock guards it.
	isOver bool

	connections atomic.Uint64
}

func newContender(r *run, number int) *Contender {
	c := &Contender{run: r, number: number, address: fmt.Sprintf("127.0.1.%d:1", number+1)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.client = &http.Client{Transport: transport{c}}
	return c
}

// Name returns its name: "a", "b" and so on.
func (c *Contender) Name() string { return string(rune('a' + c.number)) }

// Context is cancelled when the contender is to return: at the end of the run, and when a schedule kills it.
func (c *Contender) Context() context.Context { return c.ctx }

// Client returns a client whose requests all go to this run's server, whatever host they name: api.Config takes it as
// HttpClient. It has no connections: a request whose connection a schedule resets fails with ECONNRESET.
func (c *Contender) Client() *http.Client { return c.client }

// Dial makes a connection to this run's server, whatever the address is. It is for clients with a transport of their own,
// as its DialContext. An http.Transport repeats its runs with DisableKeepAlives: else requests race for idle connections.
func (c *Contender) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	made := &connection{by: c}
	made.changed.L = &made.lock
	id := uint64(c.number)<<32 | c.connections.Add(1)
	made.give = func(kind byte, text []byte) error {
		if !c.run.send(&input{by: c, kind: kind, id: id, bytes: bytes.Clone(text)}) {
			return syscall.ECONNRESET
		}
		return nil
	}
	if !c.run.send(&input{by: c, kind: connects, id: id, bytes: []byte(c.address), connection: made}) {
		return nil, refuse(ctx)
	}
	return made, nil
}

// Held says that the contender believes from now on that it holds the lock, with this fencing token; 0 without one.
func (c *Contender) Held(token uint64) {
	text := "held"
	if token != 0 {
		text = fmt.Sprint("held ", token)
	}
	c.say(text)
}

// Lost says that the contender no longer believes that it holds the lock.
func (c *Contender) Lost() { c.say("lost") }

// Returns when it has been recorded.
func (c *Contender) say(text string) {
	said := make(chan struct{})
	if c.run.send(&input{by: c, kind: believes, id: uint64(c.number), bytes: []byte(text), done: func([]byte, error) { close(said) }}) {
		<-said
	}
}

// Runs the contender, and says how it has ended, unless it was to.
func (c *Contender) compete(contend func(*Contender)) {
	how := "its goroutine has ended"
	defer func() {
		if failed := recover(); failed != nil {
			how = fmt.Sprint("panic: ", failed)
		}
		c.run.send(&input{by: c, kind: hasEnded, id: uint64(c.number), bytes: []byte(how)})
	}()
	contend(c)
	how = "its function has returned"
}

// Lets requests pass without a connection.
type transport struct{ contender *Contender }

// A request that waits for its response.
type call struct {
	lock     sync.Mutex
	response []byte
	err      error
	done     chan struct{}
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	text, err := wire(request, t.contender.address)
	if err != nil {
		return nil, err
	}
	ctx := request.Context()
	waits := &call{done: make(chan struct{})}
	sent := &input{by: t.contender, kind: asks, bytes: text, done: waits.finish}
	if !t.contender.run.send(sent) {
		return nil, refuse(ctx)
	}
	select {
	case <-waits.done:
	case <-ctx.Done():
		// What has come by now has come in time.
		if waits.finish(nil, context.Cause(ctx)); waits.err != nil {
			t.contender.run.send(&input{by: t.contender, kind: isGone, of: sent})
		}
	}
	if waits.err != nil {
		return nil, waits.err
	}
	return http.ReadResponse(bufio.NewReader(io.MultiReader(strings.NewReader("HTTP/1.1 "), bytes.NewReader(waits.response))), request)
}

func (c *call) finish(response []byte, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	select {
	case <-c.done:
	default:
		c.response, c.err = bytes.Clone(response), err
		close(c.done)
	}
}

// Returns a request as the module takes it: the address of the client, the head, and the body.
func wire(request *http.Request, from string) ([]byte, error) {
	var body []byte
	if request.Body != nil {
		defer request.Body.Close()
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	host := cmp.Or(request.Host, request.URL.Host)
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n%s %s HTTP/1.1\r\nHost: %s\r\n", from, cmp.Or(request.Method, "GET"), request.URL.RequestURI(), host)
	if err := request.Header.Write(&text); err != nil {
		return nil, err
	}
	text.WriteString("\r\n")
	text.Write(body)
	return text.Bytes(), nil
}

func refuse(ctx context.Context) error {
	select {
	case <-time.After(refusedAfter):
		return &net.OpError{Op: "dial", Net: "memory", Addr: address(noAddress), Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
