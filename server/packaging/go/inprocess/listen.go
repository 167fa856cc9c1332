package inprocess

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// Listens at a port of the loopback interface, and returns the address.
func (s *server) listen(port int) (string, error) {
	listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		return "", err
	}
	s.listener = listener
	s.serving.Go(func() {
		for {
			outer, err := listener.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serve(outer.(*net.TCPConn)) })
		}
	})
	return listener.Addr().String(), nil
}

// Moves bytes between a socket and the module, until one of them ends.
func (s *server) serve(outer *net.TCPConn) {
	defer outer.Close()
	inner, err := s.connect(0)
	if err != nil {
		return
	}
	s.serving.Go(func() {
		if _, err := io.Copy(inner, outer); err != nil {
			inner.Close()
		} else {
			_ = inner.CloseWrite()
		}
	})
	if _, err := io.Copy(outer, inner); errors.Is(err, syscall.ECONNRESET) {
		_ = outer.SetLinger(0)
	}
}
