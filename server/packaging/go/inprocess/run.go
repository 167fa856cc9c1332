package inprocess

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing/synctest"
	"time"
)

const (
	// How much later each contender starts than the one before.
	apart = 100 * time.Millisecond
	// How long contenders have to return, on the bubble's clock, when a run is over.
	patience = 10 * time.Minute
	// The first number of a request without a connection: those of connections are smaller.
	firstRequest = 1 << 62
)

var errOver = errors.New("the run is over")

// A run: a server that a schedule directs, and its contenders, in one bubble.
//
// What contenders send is collected until all of them wait. Then it is given to the module, in an order that their
// goroutines do not decide. So the order in which goroutines run at one moment of the bubble changes nothing.
type run struct {
	instance *instance
	began    time.Time
	contend  func(*Contender)
	wake     chan struct{}
	left     sync.WaitGroup

	// It guards what follows, and whether contenders are over.
	lock       sync.Mutex
	sent       []*input
	contenders []*Contender
	// Those that have not returned.
	running []*Contender

	// The bubble's first goroutine alone has the rest.
	next        time.Duration
	isOver      bool
	failure     error
	last        uint64
	waiting     map[uint64]*input
	connections map[uint64]*connection
}

// What a contender gives the server.
type input struct {
	by    *Contender
	kind  byte
	id    uint64
	bytes []byte
	// The client's end of a connection that it makes.
	connection *connection
	// The request that it gives up.
	of *input
	// Takes the response to a request, or why there is none.
	done func([]byte, error)
	// Whether the contender has given it up.
	isGone bool
}

// Makes a run on a new server in the module.
func play(in *instance, arguments []byte, next planned, contend func(*Contender)) error {
	r := &run{
		instance: in, began: time.Now(), contend: contend, wake: make(chan struct{}, 1),
		contenders: make([]*Contender, next.Contenders),
		last:       firstRequest, waiting: map[uint64]*input{}, connections: map[uint64]*connection{},
	}
	refused, err := in.exchange(arguments, "create", next.Seed, uint64(r.began.UnixNano()))
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("the server ended at its start: %s", refused)
	}
	if err == nil {
		err = in.ask("run_begin", nil, nil)
	}
	if err != nil {
		return err
	}
	r.left.Go(func() {
		for number := range next.Contenders {
			r.start(number)
			time.Sleep(apart)
		}
	})
	r.direct()
	return r.end()
}

// Starts a contender.
func (r *run) start(number int) {
	c := newContender(r, number)
	r.lock.Lock()
	r.contenders[number] = c
	r.running = append(r.running, c)
	r.lock.Unlock()
	r.left.Go(func() {
		c.compete(r.contend)
		r.lock.Lock()
		defer r.lock.Unlock()
		r.running = slices.DeleteFunc(r.running, func(one *Contender) bool { return one == c })
	})
}

// Takes an input. Returns false if the contender is over.
func (r *run) send(sent *input) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	if sent.by.isOver {
		return false
	}
	same := func(other *input) bool { return other.kind == sends && other.id == sent.id }
	if at := slices.IndexFunc(r.sent, same); sent.kind == sends && at >= 0 {
		// The bytes of a connection stay in order.
		r.sent[at].bytes = append(r.sent[at].bytes, sent.bytes...)
	} else {
		r.sent = append(r.sent, sent)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return true
}

// Gives the module what contenders send, and the time, until the run is over.
func (r *run) direct() {
	timer := time.NewTimer(0)
	r.give(timePasses, 0, nil)
	for !r.isOver {
		synctest.Wait()
		now := time.Since(r.began)
		batch := r.take()
		if r.next <= now {
			r.give(timePasses, 0, nil)
		} else if len(batch) == 0 {
			timer.Reset(r.next - now)
			select {
			case <-r.wake:
			case <-timer.C:
			}
			continue
		}
		for _, one := range batch {
			r.pass(one)
		}
	}
}

// Returns what has been sent, in an order that depends on nothing else.
func (r *run) take() []*input {
	r.lock.Lock()
	defer r.lock.Unlock()
	batch := r.sent
	r.sent = nil
	slices.SortStableFunc(batch, func(a, b *input) int {
		return cmp.Or(cmp.Compare(a.by.number, b.by.number), cmp.Compare(a.rank(), b.rank()), bytes.Compare(a.text(), b.text()))
	})
	return batch
}

// What a contender says comes before what it does.
func (i *input) rank() int {
	if i.kind == believes {
		return -1
	}
	return int(i.kind)
}

func (i *input) text() []byte {
	if i.of != nil {
		return i.of.bytes
	}
	return i.bytes
}

func (r *run) pass(one *input) {
	switch {
	case one.by.isOver || r.isOver:
		one.finish(nil, syscall.ECONNRESET)
	case one.kind == asks && !one.isGone:
		r.last++
		one.id = r.last
		r.waiting[one.id] = one
		r.give(asks, one.id, one.bytes)
	case one.kind == isGone && one.of != nil:
		one.of.isGone = true
		if r.waiting[one.of.id] == one.of {
			delete(r.waiting, one.of.id)
			r.give(isGone, one.of.id, nil)
		}
	case one.kind == connects:
		r.connections[one.id] = one.connection
		r.give(connects, one.id, one.bytes)
	case one.kind == believes || one.kind == hasEnded:
		r.give(one.kind, one.id, one.bytes)
		one.finish(nil, nil)
	case r.connections[one.id] != nil:
		if one.kind == isGone {
			delete(r.connections, one.id)
		}
		r.give(one.kind, one.id, one.bytes)
	}
}

func (i *input) finish(response []byte, err error) {
	if i.connection != nil {
		i.connection.finish(err)
	}
	if i.done != nil {
		i.done(response, err)
	}
}

// Gives the module an input, and does what comes out.
func (r *run) give(kind byte, id uint64, bytes []byte) {
	if r.isOver {
		return
	}
	reply, err := r.instance.exchange(bytes, "input", uint64(time.Since(r.began)), uint64(kind), id)
	if err != nil {
		r.isOver, r.failure = true, err
		return
	}
	r.next = 1<<63 - 1
	type order struct {
		number int
		what   string
	}
	var orders []order
	for output := range outputs(reply) {
		switch to, from := r.connections[output.number], r.waiting[output.number]; {
		case output.kind == deadline:
			r.next = time.Duration(output.number)
		case output.kind == isOver:
			r.isOver = true
		case output.kind == directs:
			orders = append(orders, order{int(output.number), string(output.bytes)})
		case output.kind == sent && to != nil:
			to.receive(output.bytes)
		case output.kind == responds && from != nil:
			delete(r.waiting, output.number)
			from.finish(output.bytes, nil)
		case output.kind == resets && from != nil:
			delete(r.waiting, output.number)
			from.finish(nil, syscall.ECONNRESET)
		case to != nil:
			delete(r.connections, output.number)
			to.finish(ends[output.kind])
		}
	}
	for _, order := range orders {
		// The link of a contender that stands still is silent: that is all of it that the server sees.
		switch order.what {
		case "kill":
			r.kill(order.number, syscall.ECONNRESET)
		case "start":
			r.start(order.number)
		}
	}
}

// Ends a contender: what it has sent is lost, and it reaches the server no more.
func (r *run) kill(number int, why error) {
	r.lock.Lock()
	c := r.contenders[number]
	if c != nil {
		c.isOver = true
	}
	of := func(one *input) bool { return one.by == c }
	var lost []*input
	for _, one := range r.sent {
		if of(one) {
			lost = append(lost, one)
		}
	}
	r.sent = slices.DeleteFunc(r.sent, of)
	r.lock.Unlock()
	if c == nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(r.waiting)) {
		if one := r.waiting[id]; of(one) {
			delete(r.waiting, id)
			lost = append(lost, one)
			r.give(isGone, id, nil)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.connections)) {
		if one := r.connections[id]; one.by == c {
			delete(r.connections, id)
			one.finish(why)
			r.give(isGone, id, nil)
		}
	}
	for _, one := range lost {
		one.finish(nil, why)
	}
	c.cancel()
}

// Ends all contenders, and waits until they have returned.
func (r *run) end() error {
	r.isOver = true
	for number := range r.contenders {
		r.kill(number, errOver)
	}
	returned := make(chan struct{})
	go func() {
		r.left.Wait()
		close(returned)
	}()
	select {
	case <-returned:
	case <-time.After(patience):
		panic(r.stuck())
	}
	// The clock of a bubble moves for as long as its first goroutine is there. What contenders have started gets time to end.
	time.Sleep(patience)
	return r.failure
}

// Says which contenders have not returned, and what the goroutines of the bubble do.
func (r *run) stuck() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	text := "proconsultest:"
	for _, one := range r.running {
		text += fmt.Sprintf(" contender %s has not returned %v after its Context was cancelled.", one.Name(), patience)
	}
	stacks := make([]byte, 1<<20)
	for stack := range bytes.SplitSeq(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
		if bytes.Contains(stack, []byte("synctest bubble")) {
			text += "\n\n" + string(stack)
		}
	}
	return text
}
