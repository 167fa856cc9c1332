// Package proconsultest starts a stand-in for Consul for a test: a process of its own, with free ports, controls for
// time, faults and barriers, and a history that is shown when the test fails. It uses the standard library alone. Package
// inprocess, a module of its own, runs the same server inside the test's process.
//
//	func TestLock(t *testing.T) {
//		server := proconsultest.Start(t, proconsultest.Frozen())
//		client, err := api.NewClient(&api.Config{Address: server.Address})
//		...
//		server.Advance(20 * time.Second)
//	}
package proconsultest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Version is the version of proconsul whose control plane this package knows.
const Version = "0.1.0"

// Binary is the variable that names the server's binary, in place of the one on the PATH.
const Binary = "PROCONSUL_BINARY"

// How long a start may take. On a fast machine it takes a few milliseconds.
const startWithin = 30 * time.Second

// How many lines of the server's log are kept for errors.
const logLines = 200

// Server is a running server. It ends with its test.
type Server struct {
	Controls
	// Address is host and port of Consul's API, as api.Config takes them. Where nothing listens, Client reaches it alone.
	Address string
	// URL is the URL of Consul's API.
	URL string
	// DNSAddress is host and port of DNS, over UDP and TCP; empty where the server does not listen for it: in this process, or at a
	// Port other than 8500. Resolver asks it.
	DNSAddress string
	// HTTPSURL is the URL of Consul's API over HTTPS, with the option HTTPS.
	HTTPSURL string
	// CAFile is the file with the certificate of the authority that has signed the server's, with the option HTTPS.
	CAFile string
	// Seed is the seed of the run, which the option Seed repeats.
	Seed uint64

	// What makes a connection to an agent.
	dial func(ctx context.Context, agent int) (net.Conn, error)
	// What makes a connection to the first agent's DNS.
	dialDNS func(ctx context.Context, network string) (net.Conn, error)
	// The client of Consul's API.
	consul *http.Client
	// What the server is made of, and what to do where that is of another version.
	from, advice string
	log          fmt.Stringer
	end          func()
}

type settings struct {
	arguments []string
	listen    bool
	port      int
	binary    string
	release   string
	https     bool
}

// Option says how a server is started.
type Option func(*settings)

// Frozen lets the clock stand still, from the start on, until the test moves it.
func Frozen() Option {
	return Args("-frozen")
}

// Epoch sets the time of day when the server's clock starts, in place of the machine's.
func Epoch(epoch time.Time) Option {
	return Args("-epoch=" + epoch.Format(time.RFC3339Nano))
}

// AsVersion emulates a release of Consul, such as "1.8.7".
func AsVersion(version string) Option {
	return func(s *settings) {
		s.release = version
		s.arguments = append(s.arguments, "-as-version="+version)
	}
}

// Seed repeats the session ids and the jitter of the run with this seed.
func Seed(seed uint64) Option {
	return Args(fmt.Sprint("-seed=", seed))
}

// Port serves Consul's API at this port, in place of a free one.
func Port(port int) Option {
	return func(s *settings) { s.listen, s.port = true, port }
}

// Listen lets a server of package inprocess listen on a free port of the loopback interface. One of Start always listens.
func Listen() Option {
	return func(s *settings) { s.listen = true }
}

// WithAgents gives the datacenter more agents than one: servers, or servers and client agents, such as "3" or "3:1". AgentClient
// reaches each.
func WithAgents(counts string) Option {
	return Args("-agents=" + counts)
}

// WithDatacenters joins datacenters, the server's own first. Each has its own agents.
func WithDatacenters(names ...string) Option {
	return Args("-datacenters=" + strings.Join(names, ","))
}

// Config takes settings as a configuration file of Consul has them, in HCL or JSON.
func Config(text string) Option {
	return Args("-hcl=" + text)
}

// Files reads configuration files of Consul, or folders of them.
func Files(paths ...string) Option {
	return func(s *settings) {
		for _, path := range paths {
			flag := "-config-dir="
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				flag = "-config-file="
			}
			s.arguments = append(s.arguments, flag+path)
		}
	}
}

// Data starts with files: states, archives of snapshots, or keys as `consul kv export` prints them.
func Data(paths ...string) Option {
	return func(s *settings) {
		for _, path := range paths {
			s.arguments = append(s.arguments, "-load="+path)
		}
	}
}

// ACL enables ACLs. The token with this secret may do everything; without a token nothing is allowed.
func ACL(management string) Option {
	return Args("-acl=" + management)
}

// HTTPS serves HTTPS, too: at HTTPSURL, with a certificate that the authority in CAFile has signed.
func HTTPS() Option {
	return func(s *settings) { s.https = true }
}

// Args are more arguments of `proconsul agent`.
func Args(arguments ...string) Option {
	return func(s *settings) { s.arguments = append(s.arguments, arguments...) }
}

// WithBinary names the server's binary, in place of the variable PROCONSUL_BINARY and the PATH.
func WithBinary(path string) Option {
	return func(s *settings) { s.binary = path }
}

// Start starts a server that ends with the test, and shows what happened on it if the test fails. It ends the test if the
// server does not start.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	return begin(t, options, start)
}

func begin(t testing.TB, options []Option, open func(testing.TB, settings) (*Server, error)) *Server {
	t.Helper()
	var chosen settings
	for _, option := range options {
		option(&chosen)
	}
	server, err := open(t, chosen)
	if err == nil {
		server.Controls.t = t
		server.Controls.fail = func(err error) {
			t.Helper()
			t.Fatalf("proconsultest: %v", err)
		}
		if err = server.introduce(chosen.release); err != nil {
			server.end()
		}
	}
	if err != nil {
		t.Fatalf("proconsultest: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() || panics() {
			t.Log(server.FailureText())
		}
		server.end()
		server.consul.CloseIdleConnections()
	})
	return server
}

// Asks what the server is, and refuses another version than this package's, and a release that is not emulated.
func (s *Server) introduce(release string) error {
	return s.Try(func(c *Controls) {
		about := c.Server()
		s.Seed = about.Seed
		if about.Proconsul != Version {
			c.fail(fmt.Errorf("%s is proconsul %s, and this package is %s: %s", s.from, about.Proconsul, Version, s.advice))
		}
		if release != "" && !strings.HasPrefix(about.Version+".", release+".") {
			c.fail(fmt.Errorf("Consul %s is not known: the newest release that is emulated is %s", release, about.Version))
		}
	})
}

// Client returns a client whose connections all go to this server, whatever host a request names: api.Config takes it as
// HttpClient.
func (s *Server) Client() *http.Client { return s.consul }

// AgentClient returns a client as Client does, of the agent with this number, counted from 0: see WithAgents. Agents of joined
// datacenters are counted on: with three in each, 3 is the first of the second.
func (s *Server) AgentClient(agent int) *http.Client {
	client := reaching(func(ctx context.Context) (net.Conn, error) { return s.dial(ctx, agent) }, false)
	s.t.Cleanup(client.CloseIdleConnections)
	return client
}

// Resolver returns a resolver that asks this server alone, in place of the system's name servers. End names with a dot, as in
// "web.service.consul.": else the system's search domains are tried, too. In this process it needs no socket, and waits on a
// bubble's clock. Go asks for both kinds of addresses at once, in an order that is not the same each time.
func (s *Server) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) { return s.dialDNS(ctx, network) }}
}

// AgentAddress returns host and port of the Consul API of the agent with this number, as AgentClient counts them. One of
// package inprocess has none, unless it is the first.
func (s *Server) AgentAddress(agent int) string {
	s.t.Helper()
	if agent == 0 {
		return s.Address
	}
	address, err := s.agentAddress(agent)
	if err != nil {
		s.fail(err)
	}
	return address
}

func (s *Server) agentAddress(agent int) (string, error) {
	var addresses []string
	err := s.Try(func(c *Controls) {
		for _, datacenter := range c.Datacenters().Datacenters {
			for _, agent := range datacenter.Agents {
				addresses = append(addresses, agent.Address)
			}
		}
	})
	if err != nil {
		return "", err
	}
	if agent < 0 || agent >= len(addresses) {
		return "", fmt.Errorf("there is no agent %d: the server has %d, counted from 0", agent, len(addresses))
	}
	return addresses[agent], nil
}

// Returns a client that reaches one server, whatever proxies the environment names. Calls of the control plane keep no
// connection open.
func reaching(dial func(context.Context) (net.Conn, error), control bool) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableKeepAlives: control,
	}}
}

func dialing(address string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }
}

// panics returns whether the test panics: its cleanups run before it is marked as failed.
func panics() bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" {
			return true
		}
		if !more {
			return false
		}
	}
}

// SetEnvironment lets api.DefaultConfig and programs that the test starts find the server, until the test ends.
func (s *Server) SetEnvironment() {
	s.t.Helper()
	s.t.Setenv("CONSUL_HTTP_ADDR", s.Address)
}

// HistoryText returns what happened on the server, a line for each record.
func (s *Server) HistoryText() string {
	s.t.Helper()
	var text string
	s.call("GET", "/history", given{"format": "text"}, nil, &text)
	return text
}

// FailureText returns what is shown when a test has failed: seed, history, and the timeline of each key that was locked.
func (s *Server) FailureText() string {
	parts := []string{fmt.Sprintf("what happened on %s (seed %d):", s.URL, s.Seed)}
	err := s.Try(func(c *Controls) {
		parts = append(parts, (&Server{Controls: *c}).HistoryText())
		seen := map[string]bool{"": true}
		for _, record := range c.History(HistoryOptions{Kind: []Kind{KindAcquired, KindAcquireRefused}}).Records {
			if !seen[record.Key] {
				seen[record.Key] = true
				parts = append(parts, c.Timeline(record.Key))
			}
		}
	})
	if err != nil {
		parts = append(parts, fmt.Sprintf("the server cannot be asked: %v\n%s", err, s.log))
	}
	return strings.Join(parts, "\n")
}

// AsConsul lets programs that start a command called consul start proconsul, until the test ends: so the server of
// Consul's own sdk/testutil is ours.
func AsConsul(t testing.TB) {
	t.Helper()
	binary, err := find("")
	if err != nil {
		t.Fatalf("proconsultest: %v", err)
	}
	folder := t.TempDir()
	// On Windows it has an extension. Links need rights there: there it is a second name of the file.
	name, link := "consul", os.Symlink
	if runtime.GOOS == "windows" {
		name, link = "consul.exe", os.Link
	}
	if err := link(binary, filepath.Join(folder, name)); err != nil {
		t.Fatalf("proconsultest: %v", err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func find(binary string) (string, error) {
	for _, source := range [][2]string{{binary, "WithBinary"}, {os.Getenv(Binary), Binary}} {
		if source[0] == "" {
			continue
		}
		path, err := exec.LookPath(source[0])
		if err != nil {
			return "", fmt.Errorf("%s names %q, which is not a program that can be run", source[1], source[0])
		}
		return filepath.Abs(path)
	}
	path, err := exec.LookPath("proconsul")
	if err != nil {
		return "", fmt.Errorf("the binary of proconsul is not on the PATH: build it with `cargo install --path server/cli` in a clone of proconsul, or name it with %s", Binary)
	}
	return filepath.Abs(path)
}

// A server in a process of its own.
type process struct {
	command *exec.Cmd
	log     *tail
	ended   chan struct{}
}

func start(t testing.TB, chosen settings) (*Server, error) {
	binary, err := find(chosen.binary)
	if err != nil {
		return nil, err
	}
	port := "-http-port-ephemeral"
	if chosen.port != 0 {
		port = fmt.Sprint("-http-port=", chosen.port)
	}
	arguments := append([]string{"agent", "-dev", "-control-port=0", "-log-level=warn", port}, chosen.arguments...)
	if chosen.https {
		arguments = append(arguments, "-https-dev", "-https-dev-dir="+t.TempDir())
	}
	process := process{exec.Command(binary, arguments...), &tail{}, make(chan struct{})}
	// A server is what its arguments say, whatever the environment of the tests is.
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "CONSUL_") && !strings.HasPrefix(variable, "PROCONSUL_") {
			process.command.Env = append(process.command.Env, variable)
		}
	}
	output, input := io.Pipe()
	process.command.Stdout, process.command.Stderr = input, input
	if err := process.command.Start(); err != nil {
		return nil, fmt.Errorf("%s cannot be run on %s/%s: %v", binary, runtime.GOOS, runtime.GOARCH, err)
	}
	go func() {
		// What is wrong with it, its log says.
		_ = process.command.Wait()
		input.Close()
	}()
	ports := make(chan ports, 1)
	go func() {
		process.log.read(output, ports)
		close(process.ended)
	}()
	said, err := process.await(binary, ports)
	if err != nil {
		process.stop()
		return nil, err
	}
	server := &Server{
		Controls: Controls{url: "http://" + said.Control + "/proconsul/v1", client: reaching(dialing(said.Control), true)},
		Address:  said.HTTP, URL: "http://" + said.HTTP, DNSAddress: said.DNS, consul: reaching(dialing(said.HTTP), false),
		from: binary, advice: fmt.Sprintf("install the binary of %s, or name it with %s", Version, Binary), log: process.log, end: process.stop,
	}
	server.dial = func(ctx context.Context, agent int) (net.Conn, error) {
		address, err := server.agentAddress(agent)
		if err != nil {
			return nil, err
		}
		return dialing(address)(ctx)
	}
	server.dialDNS = func(ctx context.Context, network string) (net.Conn, error) {
		if said.DNS == "" {
			return nil, errors.New("the server answers no DNS: at a Port other than 8500 it has none")
		}
		return new(net.Dialer).DialContext(ctx, network, said.DNS)
	}
	if said.HTTPS != "" {
		server.HTTPSURL, server.CAFile = "https://"+said.HTTPS, said.CAFile
	}
	return server, nil
}

// Where a server says that it listens.
type ports struct {
	Control, HTTP, HTTPS, DNS string
	CAFile                    string `json:"https_ca_file"`
}

// Waits until the server says where it listens.
func (p *process) await(binary string, said <-chan ports) (ports, error) {
	select {
	case said := <-said:
		return said, nil
	case <-p.ended:
		advice := ""
		if p.log.String() == "" {
			advice = fmt.Sprintf("; is %s proconsul?", binary)
		}
		return ports{}, fmt.Errorf("the server ended at its start (%v)%s\n%s", p.command.ProcessState, advice, p.log)
	case <-time.After(startWithin):
		return ports{}, fmt.Errorf("the server has not said within %v where it listens:\n%s", startWithin, p.log)
	}
}

func (p *process) stop() {
	// It may have ended by itself.
	_ = p.command.Process.Kill()
	<-p.ended
}

// The last lines of a log.
type tail struct {
	lock  sync.Mutex
	lines []string
}

// Reads a log to its end, so that the server never waits for its reader.
func (l *tail) read(output io.Reader, to chan<- ports) {
	reader := bufio.NewReader(output)
	for {
		line, err := reader.ReadBytes('\n')
		var said ports
		if bytes.HasPrefix(line, []byte(`{"`)) && json.Unmarshal(line, &said) == nil {
			select {
			case to <- said:
			default:
			}
		} else if len(line) > 0 {
			l.lock.Lock()
			l.lines = append(l.lines, string(line))
			if len(l.lines) > logLines {
				l.lines = l.lines[1:]
			}
			l.lock.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (l *tail) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return strings.Join(l.lines, "")
}
