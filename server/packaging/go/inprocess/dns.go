package inprocess

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
)

// Go keeps a channel for the system's configuration of DNS from the first look-up of a process on. One that was made in a
// bubble could not be used outside of it, so the first look-up is here. It asks nobody.
func init() {
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nobody is asked") }
	_, _ = (&net.Resolver{PreferGo: true, Dial: refuse}).LookupHost(context.Background(), "consul.")
}

// Makes a client's end of datagrams, or of a connection, that carry questions of DNS.
func (s *server) dialDNS(_ context.Context, network string) (net.Conn, error) {
	made := &connection{asks: true}
	made.changed.L = &made.lock
	kindOfQuestion := uint64(asksInMessage)
	var asked []uint64
	ask := func(question []byte) error {
		id := s.admit(made)
		made.lock.Lock()
		asked = append(asked, id)
		made.lock.Unlock()
		// The client has no address.
		return s.give(kindOfQuestion, id, append([]byte("\n"), question...))
	}
	var waiting []byte
	made.give = func(kind byte, bytes []byte) error {
		switch {
		case kind == isGone:
			made.lock.Lock()
			all := asked
			made.lock.Unlock()
			for _, id := range all {
				_ = s.give(isGone, id, nil)
			}
			return nil
		case kind != sends:
			return nil
		case kindOfQuestion == asksInDatagram:
			return ask(bytes)
		}
		// Each message comes behind its length.
		waiting = append(waiting, bytes...)
		for len(waiting) >= 2 && len(waiting)-2 >= int(binary.BigEndian.Uint16(waiting)) {
			end := 2 + int(binary.BigEndian.Uint16(waiting))
			if err := ask(waiting[2:end]); err != nil {
				return err
			}
			waiting = waiting[end:]
		}
		return nil
	}
	if strings.HasPrefix(network, "udp") {
		kindOfQuestion = asksInDatagram
		return datagrams{made}, nil
	}
	return made, nil
}

// A client's end of datagrams. What has come has its length before it, as on a connection.
type datagrams struct{ *connection }

func (d datagrams) Read(into []byte) (int, error) {
	var length [2]byte
	if _, err := io.ReadFull(d.connection, length[:]); err != nil {
		return 0, err
	}
	message := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(d.connection, message); err != nil {
		return 0, err
	}
	return copy(into, message), nil
}

func (d datagrams) ReadFrom(into []byte) (int, net.Addr, error) {
	count, err := d.Read(into)
	return count, d.RemoteAddr(), err
}

func (d datagrams) WriteTo(bytes []byte, _ net.Addr) (int, error) { return d.Write(bytes) }
