// Package inside is what proconsultest and its module inprocess tell each other.
package inside

import (
	"context"
	"fmt"
	"net"
)

// Asked is what a test asks for.
type Asked struct {
	// Arguments are those of `proconsul agent`.
	Arguments []string
	// Listen is whether it listens on the loopback interface, at Port or at a free port.
	Listen bool
	Port   int
	// Data is whether the test starts with data, which the package loads.
	Data bool
}

// Server is a server in the test's process.
type Server struct {
	// Address is where it listens, or a name that stands for it.
	Address string
	// Dial makes a connection to the agent with a number.
	Dial func(context.Context, int) (net.Conn, error)
	// DialDNS makes a client's end of what carries questions of DNS: datagrams for "udp", and a connection for "tcp".
	DialDNS func(ctx context.Context, network string) (net.Conn, error)
	// Log is what it has said at its end.
	Log fmt.Stringer
	// End ends it, and all of its connections.
	End func()
}
