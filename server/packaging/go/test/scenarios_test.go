// The scenarios that all helpers share, with consul/api.
package test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/proconsul/proconsultest"
	"example.com/proconsul/proconsultest/inprocess"
	"github.com/hashicorp/consul/api"
)

type scenario struct {
	Name   string
	Server struct {
		AsVersion string
		Seed      uint64
		Frozen    bool
		Epoch     time.Time
		Agents    string
	}
	Steps []step
}

type step struct {
	Control, Client, Key, Value, Session, Save, Watch, TTL, Fails, Refused string
	With                                                                   json.RawMessage
	Agent                                                                  int
	Stale                                                                  bool
	Expect                                                                 any
	Contains, Failure                                                      []string
}

// What a watch has seen, or why not.
type seen struct {
	value string
	err   error
}

type run struct {
	t       *testing.T
	server  *proconsultest.Server
	clients map[int]*api.Client
	ids     map[string]string
	watches map[string]chan seen
}

func TestScenarios(t *testing.T) {
	file := os.Getenv("SCENARIOS")
	if file == "" {
		file = "../../scenarios/scenarios.json"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Scenarios []scenario }
	if err := json.Unmarshal(text, &all); err != nil || len(all.Scenarios) == 0 {
		t.Fatalf("%d scenarios, %v", len(all.Scenarios), err)
	}
	ways := map[string]func(testing.TB, ...proconsultest.Option) *proconsultest.Server{"binary": proconsultest.Start, "inprocess": inprocess.New}
	for way, begin := range ways {
		for _, scenario := range all.Scenarios {
			t.Run(way+"/"+scenario.Name, func(t *testing.T) {
				t.Parallel()
				scenario.play(t, begin)
			})
		}
	}
}

func (s scenario) play(t *testing.T, begin func(testing.TB, ...proconsultest.Option) *proconsultest.Server) {
	var options []proconsultest.Option
	if s.Server.AsVersion != "" {
		options = append(options, proconsultest.AsVersion(s.Server.AsVersion))
	}
	if s.Server.Seed != 0 {
		options = append(options, proconsultest.Seed(s.Server.Seed))
	}
	if s.Server.Frozen {
		options = append(options, proconsultest.Frozen())
	}
	if !s.Server.Epoch.IsZero() {
		options = append(options, proconsultest.Epoch(s.Server.Epoch))
	}
	if s.Server.Agents != "" {
		options = append(options, proconsultest.WithAgents(s.Server.Agents))
	}
	server := begin(t, options...)
	run := run{t, server, map[int]*api.Client{}, map[string]string{}, map[string]chan seen{}}
	for _, step := range s.Steps {
		run.step(step)
	}
}

func (r *run) step(s step) {
	r.t.Helper()
	switch {
	case s.Control != "":
		err := r.server.Try(func(c *proconsultest.Controls) { r.control(c, s) })
		if s.Refused == "" && err != nil || s.Refused != "" && (err == nil || !strings.Contains(err.Error(), s.Refused)) {
			r.t.Fatalf("%s: %v, expected %q", s.Control, err, s.Refused)
		}
	case s.Failure != nil:
		r.contains(r.server.FailureText(), s.Failure)
	default:
		got, err := r.call(s)
		if s.Fails == "" && err != nil || s.Fails != "" && (err == nil || !strings.Contains(err.Error(), s.Fails)) {
			r.t.Fatalf("%s %s: %v, expected %q", s.Client, s.Key, err, s.Fails)
		}
		if s.Fails == "" && got != s.Expect {
			r.t.Fatalf("%s %s: %v, expected %v", s.Client, s.Key, got, s.Expect)
		}
	}
}

// Returns the client of an agent.
func (r *run) client(agent int) *api.Client {
	if r.clients[agent] == nil {
		client, err := api.NewClient(&api.Config{HttpClient: r.server.AgentClient(agent)})
		if err != nil {
			r.t.Fatal(err)
		}
		r.clients[agent] = client
	}
	return r.clients[agent]
}

func (r *run) contains(text string, parts []string) {
	r.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			r.t.Fatalf("%q is not in %s", part, text)
		}
	}
}

// The arguments of controls, as the description spells them.
type arguments struct {
	By, Timeout, Name, Prefix, Key string
	Scenario                       proconsultest.Scenario
	Count, Times                   uint64
	Effect                         proconsultest.ErrorEffect
	Method                         string
	KeyPrefix                      string `json:"key_prefix"`
	Agent                          uint64
	Hold                           bool
}

func duration(text string) time.Duration {
	parsed, _ := time.ParseDuration(text)
	return parsed
}

func (r *run) control(c *proconsultest.Controls, s step) {
	r.t.Helper()
	var with arguments
	if s.With != nil {
		if err := json.Unmarshal(s.With, &with); err != nil {
			r.t.Fatal(err)
		}
	}
	switch s.Control {
	case "freeze":
		if clock := c.Freeze(); clock.Rate != s.Expect.(map[string]any)["rate"] {
			r.t.Fatalf("%v, expected %v", clock, s.Expect)
		}
	case "clock":
		clock, expected := c.Clock(), s.Expect.(map[string]any)
		if float64(clock.NowMs) != expected["now_ms"] || clock.Rate != expected["rate"] {
			r.t.Fatalf("%v, expected %v", clock, expected)
		}
	case "state":
		for name, expected := range s.Expect.(map[string]any) {
			if got := c.State()[name]; got != expected {
				r.t.Fatalf("%s: %v, expected %v", name, got, expected)
			}
		}
	case "timeline":
		r.contains(c.Timeline(with.Key), s.Contains)
	case "loseLeader":
		c.LoseLeader(proconsultest.LoseLeaderOptions{Scenario: with.Scenario})
	case "findLeader":
		c.FindLeader()
	case "server":
		about, expected := c.Server(), s.Expect.(map[string]any)
		if about.Version != expected["version"] || float64(about.Seed) != expected["seed"] {
			r.t.Fatalf("%v, expected %v", about, expected)
		}
	case "advance":
		c.Advance(duration(with.By))
	case "waitBlocked":
		c.WaitBlocked(proconsultest.WaitBlockedOptions{Count: with.Count, Prefix: with.Prefix, Timeout: duration(with.Timeout)})
	case "installFault":
		c.Fault(proconsultest.FaultOptions{Effect: with.Effect, Method: with.Method, KeyPrefix: with.KeyPrefix, Times: with.Times})
	case "checkpoint":
		c.Checkpoint(with.Name)
	case "lagAgent":
		c.LagAgent(proconsultest.LagAgentOptions{Agent: with.Agent, Hold: with.Hold})
	case "cutAgent":
		c.CutAgent(proconsultest.CutAgentOptions{Agent: with.Agent})
	case "healAgent":
		c.HealAgent(proconsultest.HealAgentOptions{Agent: with.Agent})
	case "leadAgent":
		c.LeadAgent(proconsultest.LeadAgentOptions{Agent: with.Agent})
	case "rollback":
		c.Rollback(with.Name)
	default:
		r.t.Fatalf("an unknown control: %s", s.Control)
	}
}

func (r *run) call(s step) (any, error) {
	client := r.client(s.Agent)
	kv := client.KV()
	switch s.Client {
	case "put":
		_, err := kv.Put(&api.KVPair{Key: s.Key, Value: []byte(s.Value)}, nil)
		return true, err
	case "acquire":
		ok, _, err := kv.Acquire(&api.KVPair{Key: s.Key, Value: []byte(s.Value), Session: r.ids[s.Session]}, nil)
		return ok, err
	case "get":
		pair, _, err := kv.Get(s.Key, &api.QueryOptions{AllowStale: s.Stale})
		if err != nil || pair == nil {
			return nil, err
		}
		return string(pair.Value), nil
	case "session":
		id, _, err := client.Session().Create(&api.SessionEntry{TTL: s.TTL}, nil)
		r.ids[s.Save] = id
		return nil, err
	case "watch":
		_, meta, err := kv.Get(s.Key, nil)
		if err != nil {
			return nil, err
		}
		news := make(chan seen, 1)
		r.watches[s.Save] = news
		go func() {
			pair, _, err := kv.Get(s.Key, &api.QueryOptions{WaitIndex: meta.LastIndex})
			if err != nil {
				news <- seen{err: err}
				return
			}
			news <- seen{value: string(pair.Value)}
		}()
		return nil, nil
	case "join":
		news := <-r.watches[s.Watch]
		return news.value, news.err
	}
	r.t.Fatalf("an unknown step: %s", s.Client)
	return nil, nil
}
