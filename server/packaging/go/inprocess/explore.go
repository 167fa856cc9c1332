package inprocess

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/proconsul/proconsultest"
	"example.com/proconsul/proconsultest/internal/inside"
)

// Options says what Explore searches, and how. What is zero has the value that its comment names.
type Options struct {
	// Contenders is how many contenders there are, 1 to 5. Default: 3.
	Contenders int `json:"contenders,omitempty"`
	// Agents is how many agents there are, each of a contender's own, so that schedules cut them off, pause them and let them
	// lag: 3 to 5, and one for each contender. Default: 1, which all contenders use.
	Agents int `json:"agents,omitempty"`
	// Runs is after how many runs without a finding the search ends. Default: 1000.
	Runs int `json:"runs,omitempty"`
	// Seed decides what is drawn. Default: 1.
	Seed uint64 `json:"seed,omitempty"`
	// Guard is what the keys begin with that only the holder of the lock may write. Default: none.
	Guard string `json:"guard,omitempty"`
	// Length is how long a run lasts at most, on the bubble's clock. Default: 90 s.
	Length time.Duration `json:"length,omitempty"`
	// Bound is within which time a contender that can takes a free lock, and reads a change of a key that it watches.
	// Default: 30 s.
	Bound time.Duration `json:"bound,omitempty"`
	// Slack is how late a contender may act on what it knows. Default: 100 ms.
	Slack time.Duration `json:"slack,omitempty"`
	// Requests is how many requests a contender may send in a second. Default: 200.
	Requests int `json:"requests,omitempty"`
	// Sessions is how many sessions of one contender may live at the end. Default: 3.
	Sessions int `json:"sessions,omitempty"`
	// Only are the names of the properties to judge, such as "two-believers". Default: all.
	Only []string `json:"only,omitempty"`
	// Schedule is the one schedule to run, in place of a search, with Seed as the seed of its run: both are in the report.
	// A run without faults comes first, which shows whether contenders say what they believe.
	Schedule string `json:"schedule,omitempty"`
	// Replays is how often what was found is run again in the end. Default: 3.
	Replays int `json:"replays,omitempty"`
	// Server are options for the server of each run, such as its release. Data is none of them.
	Server []proconsultest.Option `json:"-"`
	// Record gets what each run has recorded, as lines of JSON.
	Record func(run string) `json:"-"`
}

// Report is the outcome of a search: something is broken, or not broken in so many runs. It is never "correct".
type Report struct {
	// Text is all of it in words.
	Text string `json:"text"`
	// Broken is what is broken; nil if nothing was found.
	Broken *Broken `json:"broken"`
	// IsJudged is whether anything could have been found: somebody acquired a lock, or watched a key.
	IsJudged bool `json:"is_judged"`
	// IsIdle is whether nobody took over a lock in most of the runs, so that the search proves little.
	IsIdle bool `json:"is_idle"`
	// Runs is how many runs there were.
	Runs int `json:"runs"`
	// Took is how long they took.
	Took time.Duration `json:"-"`
}

// Broken is what a search has found.
type Broken struct {
	// Property is the name of the property that is broken, such as "two-believers".
	Property string `json:"property"`
	// Finding says what happened.
	Finding string `json:"finding"`
	// Schedule is the smallest schedule that was found to break it.
	Schedule string `json:"schedule"`
	// Seed is the seed of that run.
	Seed uint64 `json:"seed"`
	// FoundIn is the number of the run that broke it first.
	FoundIn int `json:"found_in"`
	// Replays is in how many of the last runs it broke again, and how many these were.
	Replays [2]int `json:"replays"`
	// IsRepeated is whether each of them was the same byte for byte.
	IsRepeated bool `json:"is_repeated"`
	// Run is what the run recorded, as lines of JSON.
	Run string `json:"run"`
}

// Explore searches the schedules that a legal Consul may show until something breaks, and fails the test with the report
// if something does, or if nothing could have been found. Each run is a bubble of testing/synctest with a server of its own.
//
// contend is called for each contender of each run, in a goroutine of its own, and again when a schedule restarts a
// contender. It competes until its Context is cancelled, and then returns. Goroutines that it has started end, too, once
// their requests fail. It must not call synctest.Wait.
//
//	inprocess.Explore(t, inprocess.Options{Contenders: 2, Guard: "work/"}, func(c *inprocess.Contender) {
//		client, err := api.NewClient(&api.Config{HttpClient: c.Client()})
//		...
//		c.Held(0)
//		...
//		c.Lost()
//	})
func Explore(t *testing.T, options Options, contend func(*Contender)) {
	t.Helper()
	report := Search(t, options, contend)
	if text, fails := report.verdict(); fails {
		t.Error(text)
	} else {
		t.Log(text)
	}
}

// Returns what Explore says, and whether it fails the test.
func (r Report) verdict() (text string, fails bool) {
	switch broken := r.Broken; {
	case broken != nil:
		return fmt.Sprintf("%s\nthis repeats it: inprocess.Options{Schedule: %q, Seed: %d}", r.Text, broken.Schedule, broken.Seed), true
	case !r.IsJudged:
		return "the search proves nothing\n" + r.Text, true
	default:
		return r.Text, false
	}
}

// Search does as Explore does, and returns the report in place of failing the test.
func Search(t *testing.T, options Options, contend func(*Contender)) Report {
	t.Helper()
	s, err := begin(t, options)
	if err == nil {
		defer s.instance.close()
		err = s.run(t, contend)
	}
	var report Report
	if err == nil {
		report, err = s.report()
	}
	if err != nil {
		t.Fatalf("proconsultest: %v", err)
	}
	return report
}

// A search. One instance of the module keeps it, and has the server of one run after another.
type search struct {
	instance   *instance
	arguments  []byte
	record     func(string)
	began      time.Time
	foundAfter time.Duration
}

// The run to make next, as the module has it.
type planned struct {
	Seed       uint64 `json:"seed"`
	Contenders int    `json:"contenders"`
}

func begin(t testing.TB, options Options) (*search, error) {
	t.Helper()
	if inBubble() {
		return nil, errors.New("Explore makes the bubbles of testing/synctest itself: call it outside of one")
	}
	arguments, err := argumentsOf(t, options.Server)
	if err != nil {
		return nil, err
	}
	made, err := instantiate()
	if err != nil {
		return nil, err
	}
	wanted, err := json.Marshal(options)
	if err == nil {
		err = made.ask("search_new", wanted, nil)
	}
	if err != nil {
		made.close()
		return nil, err
	}
	return &search{instance: made, arguments: arguments, record: options.Record, began: time.Now()}, nil
}

// Returns the arguments of a server with these options, which it makes once, to see that they are valid.
func argumentsOf(t testing.TB, options []proconsultest.Option) ([]byte, error) {
	t.Helper()
	var arguments []string
	var refused error
	once := &brief{TB: t}
	defer once.end()
	proconsultest.Inside(once, options, func(asked inside.Asked) (*inside.Server, error) {
		// As short as contenders like it.
		arguments = append([]string{`-hcl=session_ttl_min = "100ms"`}, asked.Arguments...)
		if asked.Listen || asked.Data {
			refused = errors.New("the servers of Explore do not listen, and have no Data: contenders write what they need")
		}
		asked.Listen = false
		return open(once, asked)
	})
	if refused != nil {
		return nil, refused
	}
	return json.Marshal(arguments)
}

// A test that ends before the test that it is a part of.
type brief struct {
	testing.TB
	cleanups []func()
}

func (b *brief) Cleanup(cleanup func()) { b.cleanups = append(b.cleanups, cleanup) }
func (b *brief) Failed() bool           { return false }

func (b *brief) end() {
	for _, cleanup := range slices.Backward(b.cleanups) {
		cleanup()
	}
}

func (s *search) run(t *testing.T, contend func(*Contender)) error {
	for {
		var next struct {
			Run *planned `json:"run"`
		}
		if err := s.instance.ask("search_next", nil, &next); err != nil || next.Run == nil {
			return err
		}
		failed := errors.New("the bubble did not begin")
		synctest.Test(t, func(*testing.T) { failed = play(s.instance, s.arguments, *next.Run, contend) })
		if failed != nil {
			return failed
		}
		var recorded struct {
			Run string `json:"run"`
		}
		if s.record != nil {
			if err := s.instance.ask("run_recorded", nil, &recorded); err != nil {
				return err
			}
			s.record(recorded.Run)
		}
		var said struct {
			Found bool `json:"found"`
		}
		if err := s.instance.ask("run_done", nil, &said); err != nil {
			return err
		}
		if said.Found && s.foundAfter == 0 {
			s.foundAfter = time.Since(s.began)
		}
	}
}

func (s *search) report() (report Report, err error) {
	report.Took = time.Since(s.began)
	err = s.instance.ask("search_report", nil, &report, uint64(report.Took), uint64(s.foundAfter))
	report.Text = strings.TrimSpace(report.Text)
	return report, err
}

// Calls a function of the module that replies with JSON.
func (i *instance) ask(name string, given []byte, into any, arguments ...uint64) error {
	reply, err := i.exchange(given, name, arguments...)
	if err != nil {
		return err
	}
	var said struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(reply, &said); err != nil {
		return fmt.Errorf("%s: %v", name, err)
	}
	if said.Error != "" {
		return errors.New(said.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(reply, into)
}
