package inprocess

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/proconsul/proconsultest"
)

func TestWhatExploreRefuses(t *testing.T) {
	for _, row := range []struct {
		options Options
		said    string
	}{
		{Options{Contenders: 6}, "expected 1 to 5 contenders"},
		{Options{Only: []string{"two-belivers"}}, `there is no property "two-belivers"`},
		{Options{Schedule: "a renw 1: hold"}, "expected a kind of request"},
		{Options{Server: []proconsultest.Option{proconsultest.Listen()}}, "do not listen"},
	} {
		if _, err := begin(t, row.options); err == nil || !strings.Contains(err.Error(), row.said) {
			t.Errorf("%v, not %q", err, row.said)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := begin(t, Options{}); err == nil || !strings.Contains(err.Error(), "outside of one") {
			t.Error(err)
		}
	})
}

func TestWhatExploreSays(t *testing.T) {
	broken := Report{Text: "broken: so", IsJudged: true, Broken: &Broken{Schedule: "contenders 2\n", Seed: 7}}
	for _, row := range []struct {
		report Report
		fails  bool
		said   string
	}{
		{broken, true, `inprocess.Options{Schedule: "contenders 2\n", Seed: 7`},
		{Report{Text: "not judged"}, true, "proves nothing"},
		{Report{Text: "not broken", IsJudged: true}, false, "not broken"},
	} {
		if text, fails := row.report.verdict(); fails != row.fails || !strings.Contains(text, row.said) || !strings.Contains(text, row.report.Text) {
			t.Error(text, fails)
		}
	}
}

// Sends a request, and returns the body of the response.
func put(c *Contender, target, body string) (string, error) {
	request, err := http.NewRequestWithContext(c.Context(), http.MethodPut, "http://consul/v1/"+target, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	response, err := c.Client().Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

func TestAScheduleKillsAndPausesContenders(t *testing.T) {
	var lock sync.Mutex
	var starts []string
	waited := map[string]time.Duration{}
	isScheduled := false
	schedule := "contenders 2\na create 1: restart a 5s\nb create 1: pause b 4s\n"
	report := Search(t, Options{Schedule: schedule, Replays: 1, Record: func(string) { isScheduled = true }}, func(c *Contender) {
		if !isScheduled {
			<-c.Context().Done()
			return
		}
		began := time.Now()
		_, err := put(c, "session/create", "{}")
		lock.Lock()
		starts = append(starts, c.Name())
		waited[c.Name()] += time.Since(began)
		isKilled := c.Name() == "a" && !slices.Contains(starts[:len(starts)-1], "a")
		lock.Unlock()
		if isKilled {
			if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, context.Canceled) {
				t.Errorf("the request of one that is killed ends with %v", err)
			}
			<-c.Context().Done()
			request, _ := http.NewRequest(http.MethodGet, "http://consul/v1/status/leader", nil)
			if _, err := c.Client().Do(request); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a request after the end: %v", err)
			}
			if _, err := c.Dial(context.Background(), "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a connection after the end: %v", err)
			}
			// It is recorded for nobody.
			c.Held(0)
		} else if err != nil {
			t.Error(err)
		}
		<-c.Context().Done()
	})
	if slices.Sort(starts); !slices.Equal(starts, []string{"a", "a", "b"}) {
		t.Errorf("these were started: %v", starts)
	}
	if waited["b"] != 4*time.Second {
		t.Errorf("a request took %v through a pause of 4 s", waited["b"])
	}
	if report.Runs != 1 || report.Broken != nil {
		t.Error(report)
	}
}

func TestAContenderThatEndsIsFound(t *testing.T) {
	for said, contend := range map[string]func(*Contender){
		"its function has returned": func(*Contender) {},
		"panic: out of order":       func(*Contender) { panic("out of order") },
	} {
		report := Search(t, Options{Contenders: 1, Runs: 5}, contend)
		if broken := report.Broken; broken == nil || broken.Property != "ended" || !strings.Contains(broken.Finding, said) {
			t.Errorf("%q is not found: %s", said, report.Text)
		}
	}
}

func TestARequestIsGivenUpInTime(t *testing.T) {
	var took time.Duration
	var err error
	Search(t, Options{Schedule: "contenders 1\na create 1: hold\n", Replays: 1}, func(c *Contender) {
		ctx, cancel := context.WithTimeout(c.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		request, _ := http.NewRequestWithContext(ctx, http.MethodPut, "http://consul/v1/session/create", nil)
		_, err = c.Client().Do(request)
		took = time.Since(began)
		<-c.Context().Done()
	})
	if !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

func TestAContenderThatDoesNotReturnIsNamed(t *testing.T) {
	const variable = "PROCONSULTEST_STAYS"
	if os.Getenv(variable) != "" {
		Search(t, Options{Schedule: "contenders 1\n"}, func(c *Contender) {
			for {
				time.Sleep(time.Minute)
			}
		})
		return
	}
	// It ends the process.
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), variable+"=1")
	said, err := command.CombinedOutput()
	if text := string(said); err == nil || !strings.Contains(text, "contender a has not returned 10m0s after") || !strings.Contains(text, "explore_test.go") {
		t.Errorf("%v\n%s", err, text)
	}
}
