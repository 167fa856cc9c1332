package test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/proconsul/proconsultest/inprocess"
	"github.com/hashicorp/consul/api"
)

const (
	leader = "service/leader"
	work   = "work/item"
	ttl    = 10 * time.Second
)

// Waits on the bubble's clock, but no longer than the contender is to run.
func rest(ctx context.Context, lasts time.Duration) {
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
	}
}

func clientOf(over *http.Client) *api.Client {
	client, err := api.NewClient(&api.Config{HttpClient: over})
	if err != nil {
		panic(err)
	}
	return client
}

// A program that holds an api.Lock, and works while it does.
func withLock(c *inprocess.Contender) { withLockOver(c, c.Client()) }

func withLockOver(c *inprocess.Contender, over *http.Client) {
	client := clientOf(over)
	for c.Context().Err() == nil {
		lock, err := client.LockOpts(&api.LockOptions{Key: leader, SessionTTL: ttl.String(), LockDelay: time.Second})
		if err != nil {
			panic(err)
		}
		lost, err := lock.Lock(c.Context().Done())
		if err != nil || lost == nil {
			rest(c.Context(), time.Second)
			continue
		}
		c.Held(0)
		workUntil(c.Context(), lost, client)
		c.Lost()
		// Ends the renewals of the session. What it says of a lock that is lost is nothing new.
		_ = lock.Unlock()
	}
}

func workUntil(ctx context.Context, lost <-chan struct{}, client *api.Client) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-lost:
		case <-ctx.Done():
		}
	}()
	for ctx.Err() == nil {
		// A write that fails is tried again.
		_, _ = client.KV().Put(&api.KVPair{Key: work}, new(api.WriteOptions).WithContext(ctx))
		rest(ctx, time.Second)
	}
}

// A right program. It believes that it holds the lock until one TTL after it has sent the last renewal that was answered,
// provided that it has seen its session as the holder since. Consul lets the session live for two TTLs. Each write carries
// the condition that the session is the holder still.
type right struct {
	*inprocess.Contender
	client  *api.Client
	session string
	// Until when it may believe.
	lease time.Time
}

func rightly(c *inprocess.Contender) {
	r := &right{Contender: c, client: clientOf(c.Client())}
	for c.Context().Err() == nil {
		if r.open() {
			if r.acquire() {
				c.Held(0)
				r.work()
				c.Lost()
			}
			ctx, cancel := context.WithTimeout(c.Context(), time.Second)
			// If this fails, the session expires.
			_, _ = r.client.Session().Destroy(r.session, new(api.WriteOptions).WithContext(ctx))
			cancel()
		}
		rest(c.Context(), time.Second)
	}
}

// Returns options of a write whose response comes in time, or never.
func (r *right) write(until time.Time) (*api.WriteOptions, context.CancelFunc) {
	ctx, cancel := context.WithDeadline(r.Context(), until)
	return new(api.WriteOptions).WithContext(ctx), cancel
}

func (r *right) open() bool {
	sent := time.Now()
	options, cancel := r.write(sent.Add(2 * time.Second))
	defer cancel()
	session, _, err := r.client.Session().Create(&api.SessionEntry{TTL: ttl.String(), LockDelay: time.Second}, options)
	r.session, r.lease = session, sent.Add(ttl)
	return err == nil
}

func (r *right) acquire() bool {
	for time.Now().Before(r.lease) && r.Context().Err() == nil {
		options, cancel := r.write(r.lease)
		held, _, err := r.client.KV().Acquire(&api.KVPair{Key: leader, Session: r.session}, options)
		cancel()
		if held || err != nil {
			return held
		}
		rest(r.Context(), time.Second)
		r.renew(false)
	}
	return false
}

// Renews the session, and the lease with it if it is the holder where it has to be. Returns whether the lock is not lost.
func (r *right) renew(isHolder bool) bool {
	sent := time.Now()
	options, cancel := r.write(r.lease)
	defer cancel()
	entry, _, err := r.client.Session().Renew(r.session, options)
	if err != nil || entry == nil {
		return err != nil
	}
	if isHolder {
		pair, _, err := r.client.KV().Get(leader, new(api.QueryOptions).WithContext(options.Context()))
		if err != nil || pair == nil || pair.Session != r.session {
			return err != nil
		}
	}
	r.lease = sent.Add(ttl)
	return true
}

func (r *right) work() {
	for time.Now().Before(r.lease) && r.Context().Err() == nil && r.renew(true) {
		ctx, cancel := context.WithDeadline(r.Context(), r.lease)
		writes := api.TxnOps{
			{KV: &api.KVTxnOp{Verb: api.KVCheckSession, Key: leader, Session: r.session}},
			{KV: &api.KVTxnOp{Verb: api.KVSet, Key: work}},
		}
		// A write that fails is tried again, if the lock is not lost.
		_, _, _, _ = r.client.Txn().Txn(writes, new(api.QueryOptions).WithContext(ctx))
		rest(ctx, 2*time.Second)
		cancel()
	}
}

func perSecond(report inprocess.Report) float64 { return float64(report.Runs) / report.Took.Seconds() }

// https://github.com/hashicorp/consul/issues/18271
func TestTheLockOfTheOfficialClientIsBroken(t *testing.T) {
	report := inprocess.Search(t, inprocess.Options{Contenders: 2, Runs: 50, Guard: "work/", Replays: 20}, withLock)
	t.Logf("%.0f runs a second\n%s", perSecond(report), report.Text)
	broken := report.Broken
	if broken == nil || broken.Property != "two-believers" || broken.FoundIn > 10 {
		t.Fatal("api.Lock is not found to be broken within 10 runs")
	}
	if broken.Replays != [2]int{20, 20} || !broken.IsRepeated {
		t.Errorf("%v replays break it; each the same: %v", broken.Replays, broken.IsRepeated)
	}
	var again []string
	only := inprocess.Options{Schedule: broken.Schedule, Seed: broken.Seed, Guard: "work/", Replays: 1, Record: func(run string) { again = append(again, run) }}
	// The first one is without faults.
	if inprocess.Search(t, only, withLock); len(again) != 2 || again[1] != broken.Run {
		t.Errorf("its schedule and seed do not repeat it, but come to\n%s", again)
	}
}

func TestARightProgramIsNotBroken(t *testing.T) {
	report := inprocess.Search(t, inprocess.Options{Contenders: 2, Runs: 300, Guard: "work/"}, rightly)
	t.Logf("%.0f runs a second\n%s", perSecond(report), report.Text)
	if report.Broken != nil || !report.IsJudged || report.Runs != 300 {
		t.Error("a right program is broken, or nothing was tried")
	}
}

// A program that takes what its own agent has for the state of the lock.
func believesStale(c *inprocess.Contender) {
	client := clientOf(c.Client())
	within := func() (*api.WriteOptions, *api.QueryOptions, context.CancelFunc) {
		ctx, cancel := context.WithTimeout(c.Context(), 2*time.Second)
		return new(api.WriteOptions).WithContext(ctx), (&api.QueryOptions{AllowStale: true}).WithContext(ctx), cancel
	}
	for c.Context().Err() == nil {
		write, _, cancel := within()
		session, _, err := client.Session().Create(&api.SessionEntry{TTL: ttl.String(), LockDelay: time.Second}, write)
		held := false
		if err == nil {
			held, _, err = client.KV().Acquire(&api.KVPair{Key: leader, Session: session}, write)
		}
		cancel()
		if err != nil || !held {
			rest(c.Context(), time.Second)
			continue
		}
		c.Held(0)
		for held && c.Context().Err() == nil {
			rest(c.Context(), 2*time.Second)
			write, _, cancel := within()
			// The look tells.
			_, _, _ = client.Session().Renew(session, write)
			cancel()
			_, stale, cancel := within()
			pair, _, err := client.KV().Get(leader, stale)
			held = err == nil && pair != nil && pair.Session == session
			cancel()
		}
		c.Lost()
	}
}

func TestABeliefInTheOwnAgentIsFound(t *testing.T) {
	options := inprocess.Options{Contenders: 2, Agents: 3, Runs: 100, Only: []string{"two-believers"}}
	report := inprocess.Search(t, options, believesStale)
	t.Logf("%.0f runs a second\n%s", perSecond(report), report.Text)
	if broken := report.Broken; broken == nil || !strings.Contains(broken.Schedule, "-agent ") || !broken.IsRepeated {
		t.Errorf("not found by what happens to an agent: %+v", broken)
	}
	options.Agents, options.Runs = 1, 35
	if report := inprocess.Search(t, options, believesStale); report.Broken != nil {
		t.Errorf("found with one agent, too: %s", report.Text)
	}
	report = inprocess.Search(t, inprocess.Options{Contenders: 2, Agents: 3, Runs: 40, Guard: "work/"}, rightly)
	if report.Broken != nil || !report.IsJudged {
		t.Errorf("a right program is broken: %s", report.Text)
	}
}

// Returns what each run of a search records.
func runs(t *testing.T, contend func(*inprocess.Contender)) (recorded []string) {
	// The properties that are broken are not looked for, so that all schedules are tried.
	options := inprocess.Options{Contenders: 2, Runs: 40, Guard: "work/", Only: []string{"two-holders"}}
	options.Record = func(run string) { recorded = append(recorded, run) }
	inprocess.Search(t, options, contend)
	return recorded
}

func TestTheSameSeedGivesTheSameRuns(t *testing.T) {
	// With keep-alive, requests that are sent at one moment race for the idle connection. A GET over that one is sent again when
	// it is cut, a GET over a new one is not.
	dialed := func(c *inprocess.Contender) {
		withLockOver(c, &http.Client{Transport: &http.Transport{DialContext: c.Dial, DisableKeepAlives: true}})
	}
	for name, contend := range map[string]func(*inprocess.Contender){"right": rightly, "lock": withLock, "lock over connections": dialed} {
		first, second := runs(t, contend), runs(t, contend)
		if len(first) != 40 || len(second) != 40 {
			t.Fatalf("%s: %d and %d runs", name, len(first), len(second))
		}
		for at := range first {
			if first[at] != second[at] {
				t.Errorf("%s: run %d is another one\n%s\n%s", name, at+1, first[at], second[at])
			}
		}
	}
}
