package inprocess

import (
	"net"
	"os"
	"sync"
	"time"
)

// A client's end of a connection to the module, without a socket. Writes do not wait, and reads wait on a condition: so a
// bubble of testing/synctest sees that they wait.
type connection struct {
	// Gives the module an input of this connection.
	give func(kind byte, bytes []byte) error
	// Whose it is in a run of Explore.
	by *Contender
	// Whether it carries questions of DNS.
	asks bool

	lock    sync.Mutex
	changed sync.Cond
	// What has come, and is not read yet.
	received []byte
	// Why nothing more comes.
	over            error
	readBy, writeBy time.Time
	timer           *time.Timer
}

func (c *connection) receive(bytes []byte) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.received = append(c.received, bytes...)
	c.changed.Broadcast()
}

// Ends the connection, unless it has ended.
func (c *connection) finish(why error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.over == nil {
		c.over = why
	}
	c.changed.Broadcast()
}

func passed(moment time.Time) bool {
	return !moment.IsZero() && !time.Now().Before(moment)
}

func (c *connection) Read(into []byte) (int, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for {
		switch {
		case c.over == net.ErrClosed:
			return 0, c.over
		case passed(c.readBy):
			return 0, os.ErrDeadlineExceeded
		case len(c.received) > 0:
			count := copy(into, c.received)
			c.received = c.received[count:]
			return count, nil
		case c.over != nil:
			return 0, c.over
		}
		c.changed.Wait()
	}
}

func (c *connection) Write(bytes []byte) (int, error) {
	c.lock.Lock()
	over, late := c.over, passed(c.writeBy)
	c.lock.Unlock()
	switch {
	case over == net.ErrClosed:
		return 0, over
	case late:
		return 0, os.ErrDeadlineExceeded
	}
	// What comes after the server's end of the connection, the module ignores.
	if err := c.give(sends, bytes); err != nil {
		return 0, err
	}
	return len(bytes), nil
}

// CloseWrite tells the server that nothing more will be sent.
func (c *connection) CloseWrite() error {
	return c.give(sentAll, nil)
}

func (c *connection) Close() error {
	c.lock.Lock()
	c.over = net.ErrClosed
	if c.timer != nil {
		c.timer.Stop()
	}
	c.changed.Broadcast()
	c.lock.Unlock()
	// The server may have ended.
	_ = c.give(isGone, nil)
	return nil
}

func (c *connection) SetDeadline(moment time.Time) error {
	_ = c.SetWriteDeadline(moment)
	return c.SetReadDeadline(moment)
}

func (c *connection) SetReadDeadline(moment time.Time) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.readBy = moment
	if !moment.IsZero() {
		c.timer = time.AfterFunc(time.Until(moment), func() { c.receive(nil) })
	}
	c.changed.Broadcast()
	return nil
}

func (c *connection) SetWriteDeadline(moment time.Time) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.writeBy = moment
	return nil
}

func (c *connection) LocalAddr() net.Addr  { return address("client") }
func (c *connection) RemoteAddr() net.Addr { return address(noAddress) }

type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }
