package proconsultest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/proconsul/proconsultest/internal/inside"
)

// Inside is for package inprocess: it makes a server in this process as Start does outside of it.
func Inside(t testing.TB, options []Option, open func(inside.Asked) (*inside.Server, error)) *Server {
	t.Helper()
	return begin(t, options, func(_ testing.TB, chosen settings) (*Server, error) {
		if chosen.https || chosen.binary != "" {
			return nil, errors.New("the options HTTPS and WithBinary need the binary: use proconsultest.Start")
		}
		arguments, data, err := withoutFiles(chosen.arguments)
		if err != nil {
			return nil, err
		}
		opened, err := open(inside.Asked{Arguments: arguments, Listen: chosen.listen, Port: chosen.port, Data: len(data) > 0})
		if err != nil {
			return nil, err
		}
		at := "http://" + opened.Address
		first := func(ctx context.Context) (net.Conn, error) { return opened.Dial(ctx, 0) }
		server := &Server{
			Controls: Controls{url: at + "/proconsul/v1", client: reaching(first, true)},
			Address:  opened.Address, URL: at, consul: reaching(first, false), dial: opened.Dial, dialDNS: opened.DialDNS,
			from: "the module", advice: "build it anew with server/packaging/go/build", log: opened.Log, end: opened.End,
		}
		for _, path := range data {
			if err := server.load(path, management(arguments)); err != nil {
				server.end()
				return nil, fmt.Errorf("cannot load %s: %v", path, err)
			}
		}
		return server, nil
	})
}

// Returns the arguments of a server that reads no files, with the configuration in place of its files, and the files with
// data.
func withoutFiles(given []string) (arguments, data []string, err error) {
	// As in the binary, flags come after files, and win.
	var flags []string
	arguments = []string{"-dev", "-control"}
	for _, argument := range given {
		flag, path, _ := strings.Cut(argument, "=")
		paths := []string{path}
		switch flag {
		case "-load":
			data = append(data, path)
			continue
		case "-config-dir":
			if paths, err = configurations(path); err != nil {
				return nil, nil, err
			}
		case "-config-file":
		default:
			flags = append(flags, argument)
			continue
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, nil, err
			}
			arguments = append(arguments, "-hcl="+string(text))
		}
	}
	return append(arguments, flags...), data, nil
}

// Returns the files of a folder that Consul reads, in its order.
func configurations(folder string) (paths []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if extension := filepath.Ext(entry.Name()); extension == ".hcl" || extension == ".json" {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return paths, err
}

// Returns the secret of the token that may do everything.
func management(arguments []string) string {
	for _, argument := range arguments {
		if flag, secret, _ := strings.Cut(argument, "="); flag == "-acl" {
			return secret
		}
	}
	return ""
}

// Loads a file with data: an archive of a snapshot, a state, or keys as `consul kv export` prints them.
func (s *Server) load(path, token string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(content, []byte{0x1f, 0x8b}):
		return s.put(s.URL+"/v1/snapshot", token, content)
	case bytes.HasPrefix(bytes.TrimSpace(content), []byte("[")):
		return s.put(s.Controls.url+"/state/kv", token, content)
	default:
		return s.put(s.Controls.url+"/state", token, content)
	}
}

func (s *Server) put(target, token string, body []byte) error {
	request, err := http.NewRequest(http.MethodPut, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-Consul-Token", token)
	response, err := s.Controls.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", bytes.TrimSpace(said))
	}
	return err
}
