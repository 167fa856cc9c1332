package test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/proconsul/proconsultest"
	"github.com/hashicorp/consul/api"
	"github.com/hashicorp/consul/sdk/testutil"
)

// A test that is expected to fail: it keeps what it is told, and ends its goroutine as a real one does.
type fake struct {
	testing.TB
	said     []string
	failed   bool
	cleanups []func()
}

func (f *fake) Helper()           {}
func (f *fake) Failed() bool      { return f.failed }
func (f *fake) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }
func (f *fake) Log(of ...any)     { f.said = append(f.said, fmt.Sprint(of...)) }
func (f *fake) Fatalf(format string, of ...any) {
	f.failed = true
	f.said = append(f.said, fmt.Sprintf(format, of...))
	panic(f)
}

// Runs a test to its end, and returns what it said.
func (f *fake) run(test func()) string {
	func() {
		defer func() {
			if caught := recover(); caught != nil && caught != f {
				panic(caught)
			}
		}()
		test()
	}()
	for at := len(f.cleanups) - 1; at >= 0; at-- {
		f.cleanups[at]()
	}
	return strings.Join(f.said, "\n")
}

func expect(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in:\n%s", part, said)
		}
	}
}

func TestAFailingTestShowsWhatHappened(t *testing.T) {
	f := &fake{}
	said := f.run(func() {
		server := proconsultest.Start(f, proconsultest.Frozen(), proconsultest.Seed(7))
		server.Advance(20 * time.Second)
		server.WaitBlocked(proconsultest.WaitBlockedOptions{Count: 1, Timeout: time.Millisecond})
		t.Error("a call that is refused ends the test")
	})
	expect(t, said, "timed out after 1ms waiting for 1 requests blocked", "what happened on http://127.0.0.1:", "(seed 7)", "the agent came up")
}

func TestEffectsAreTyped(t *testing.T) {
	server := proconsultest.Start(t, proconsultest.Frozen())
	effects := []proconsultest.Effect{
		proconsultest.ErrorEffect{Error: proconsultest.ErrorNameNoClusterLeader, After: "0s"},
		proconsultest.RespondEffect{Status: 503, Headers: map[string]string{"Retry-After": "1"}},
		proconsultest.TruncateEffect{Bytes: 0},
		proconsultest.HangEffect{},
	}
	for at, effect := range effects {
		server.Fault(proconsultest.FaultOptions{Effect: effect, KeyPrefix: fmt.Sprint(at), Header: proconsultest.Header{Name: "Who", Value: "b"}})
	}
	var words []string
	for _, rule := range server.Faults().Rules {
		words = append(words, rule.Effect)
	}
	expect(t, strings.Join(words, "\n"), "no-cluster-leader after 0ns", "status 503", "hangs")
	err := server.Try(func(c *proconsultest.Controls) {
		c.Fault(proconsultest.FaultOptions{Effect: proconsultest.ErrorEffect{Error: "eof"}})
	})
	if err == nil {
		t.Fatal("an unknown error is refused")
	}
	expect(t, err.Error(), `unknown error "eof"; there are no-cluster-leader, rpc-eof`)
}

// A panic ends the test's process, so the test that panics runs in one of its own.
func TestATestThatPanicsShowsWhatHappened(t *testing.T) {
	const variable = "PROCONSULTEST_PANIC"
	if os.Getenv(variable) != "" {
		proconsultest.Start(t)
		panic("as it should")
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), variable+"=1")
	said, err := command.CombinedOutput()
	if err == nil {
		t.Error("it did not fail")
	}
	expect(t, string(said), "what happened on http://127.0.0.1:", "the agent came up", "panic: as it should")
}

func TestWhatKeepsAServerFromStartingIsSaid(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	rows := []struct {
		option proconsultest.Option
		parts  []string
	}{
		{proconsultest.Port(taken.Addr().(*net.TCPAddr).Port), []string{"ended at its start (exit status 1)", "address already in use"}},
		{proconsultest.Args("-no-such-flag"), []string{"ended at its start", "no-such-flag"}},
		{proconsultest.WithBinary("/bin/true"), []string{"is /bin/true proconsul?"}},
		{proconsultest.AsVersion("9.9"), []string{"Consul 9.9 is not known: the newest release that is emulated is 2."}},
		{proconsultest.WithBinary("/nowhere"), []string{`WithBinary names "/nowhere"`}},
	}
	for _, row := range rows {
		f := &fake{}
		said := f.run(func() {
			proconsultest.Start(f, row.option)
			t.Error("it started")
		})
		expect(t, said, row.parts...)
	}
}

func TestABinaryThatIsMissingIsSaid(t *testing.T) {
	t.Setenv(proconsultest.Binary, "")
	t.Setenv("PATH", "")
	f := &fake{}
	expect(t, f.run(func() { proconsultest.Start(f) }), "not on the PATH", "cargo install --path server/cli")
}

func TestAnotherVersionOnThePathIsRefused(t *testing.T) {
	t.Setenv(proconsultest.Binary, "")
	folder := t.TempDir()
	if err := os.Symlink(os.Getenv("OTHER_PROCONSUL"), filepath.Join(folder, "proconsul")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	f := &fake{}
	said := f.run(func() { proconsultest.Start(f) })
	expect(t, said, filepath.Join(folder, "proconsul")+" is proconsul 0.0.1, and this package is "+proconsultest.Version, "install the binary of")
}

func TestTheEnvironmentLeadsToTheServer(t *testing.T) {
	t.Setenv("CONSUL_LOCAL_CONFIG", `{"datacenter": "not-this"}`)
	server := proconsultest.Start(t, proconsultest.Config(`node_name = "of-hcl"`))
	server.SetEnvironment()
	client, err := api.NewClient(api.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	self, err := client.Agent().Self()
	if err != nil {
		t.Fatal(err)
	}
	config := self["Config"]
	if config["NodeName"] != "of-hcl" || config["Datacenter"] != "dc1" {
		t.Fatal(config)
	}
}

func TestDataACLsAndHTTPSAreOptions(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(keys, []byte(`[{"key": "color", "flags": 0, "value": "cmVk"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	server := proconsultest.Start(t, proconsultest.AsVersion("1.8"), proconsultest.Data(keys), proconsultest.ACL("root"), proconsultest.HTTPS())
	get := func(token string) (*api.KVPair, error) {
		authority := api.TLSConfig{CAFile: server.CAFile}
		client, err := api.NewClient(&api.Config{Address: server.HTTPSURL, Token: token, TLSConfig: authority})
		if err != nil {
			t.Fatal(err)
		}
		pair, _, err := client.KV().Get("color", nil)
		return pair, err
	}
	if pair, err := get("root"); err != nil || string(pair.Value) != "red" {
		t.Error(pair, err)
	}
	if _, err := get(""); err == nil || !strings.Contains(err.Error(), "Permission denied") {
		t.Error(err)
	}
}

// The server of Consul's own sdk/testutil runs `consul version`, and `consul agent` with a configuration file.
func TestTheServerOfTestutilIsThisOne(t *testing.T) {
	proconsultest.AsConsul(t)
	if path, _ := exec.LookPath("consul"); !strings.HasPrefix(path, os.TempDir()) {
		t.Fatal(path)
	}
	server, err := testutil.NewTestServerConfigT(t, func(c *testutil.TestServerConfig) { c.NodeName = "of-testutil" })
	if err != nil {
		t.Fatal(err)
	}
	// Interrupted, it ends with 1, as a Consul does.
	defer func() { _ = server.Stop() }()
	server.WaitForLeader(t)
	server.SetKVString(t, "a", "b")
	client, err := api.NewClient(&api.Config{Address: server.HTTPAddr})
	if err != nil {
		t.Fatal(err)
	}
	pair, _, err := client.KV().Get("a", nil)
	if err != nil || pair == nil || string(pair.Value) != "b" {
		t.Fatal(pair, err)
	}
	if name, err := client.Agent().NodeName(); name != "of-testutil" {
		t.Fatal(name, err)
	}
}

// The first agent has the number 0, which a rule has to tell from no number.
func TestARuleIsForTheFirstAgent(t *testing.T) {
	server := proconsultest.Start(t, proconsultest.WithAgents("2"))
	server.Fault(proconsultest.FaultOptions{Effect: proconsultest.ErrorEffect{Error: "acl-not-found"}, Agent: new(uint64)})
	for at, fails := range []bool{true, false} {
		client, err := api.NewClient(&api.Config{Address: server.AgentAddress(at)})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := client.KV().Get("config", nil); (err != nil) != fails {
			t.Errorf("agent %d: %v", at, err)
		}
	}
}

func TestAClientWithTwoAddressesGoesOn(t *testing.T) {
	server := proconsultest.Start(t, proconsultest.WithAgents("3"))
	addresses := []string{server.AgentAddress(1), server.AgentAddress(2)}
	// Returns the value of a key, and the number of the address that has answered.
	get := func() (string, int) {
		for at, address := range addresses {
			client, err := api.NewClient(&api.Config{Address: address})
			if err != nil {
				t.Fatal(err)
			}
			if pair, _, err := client.KV().Get("config", nil); err == nil && pair != nil {
				return string(pair.Value), at
			}
		}
		return "", -1
	}
	client, err := api.NewClient(&api.Config{Address: server.Address})
	if err != nil {
		t.Fatal(err)
	}
	for at, value := range []string{"first", "second", "third"} {
		if _, err := client.KV().Put(&api.KVPair{Key: "config", Value: []byte(value)}, nil); err != nil {
			t.Fatal(err)
		}
		answeredBy := 0
		switch at {
		case 1:
			server.KillAgent(proconsultest.KillAgentOptions{Agent: 1})
			answeredBy = 1
		case 2:
			server.StartAgent(proconsultest.StartAgentOptions{Agent: 1})
		}
		if got, by := get(); got != value || by != answeredBy {
			t.Errorf("%q by address %d, expected %q by %d", got, by, value, answeredBy)
		}
	}
}

func TestAnAgentThatIsNotThereIsNamed(t *testing.T) {
	f := &fake{}
	said := f.run(func() { proconsultest.Start(f, proconsultest.WithAgents("3")).AgentAddress(3) })
	expect(t, said, "there is no agent 3: the server has 3, counted from 0")
}

func TestGosResolverFindsServices(t *testing.T) {
	server := proconsultest.Start(t)
	client, err := api.NewClient(&api.Config{Address: server.Address})
	if err != nil {
		t.Fatal(err)
	}
	service := &api.AgentService{Service: "web", Port: 80, Tags: []string{"v1"}}
	_, err = client.Catalog().Register(&api.CatalogRegistration{Node: "n1", Address: "10.0.0.1", Service: service}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, network := range []string{"udp", "tcp"} {
		resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.DNSAddress)
		}}
		addresses, err := resolver.LookupHost(t.Context(), "v1.web.service.consul.")
		if err != nil || len(addresses) != 1 || addresses[0] != "10.0.0.1" {
			t.Errorf("%s: %v, %v", network, addresses, err)
		}
		_, instances, err := resolver.LookupSRV(t.Context(), "web", "tcp", "service.consul.")
		if err != nil || len(instances) != 1 || *instances[0] != (net.SRV{Target: "n1.node.dc1.consul.", Port: 80, Priority: 1, Weight: 1}) {
			t.Errorf("%s: %v, %v", network, instances, err)
		}
		names, err := resolver.LookupAddr(t.Context(), "10.0.0.1")
		if err != nil || len(names) != 1 || names[0] != "n1.node.dc1.consul." {
			t.Errorf("%s: %v, %v", network, names, err)
		}
		var missing *net.DNSError
		if _, err := resolver.LookupHost(t.Context(), "none.service.consul."); !errors.As(err, &missing) || !missing.IsNotFound {
			t.Errorf("%s: %v", network, err)
		}
	}
}
