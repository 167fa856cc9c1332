package interop

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
)

// program is one of the commands beside these tests, while it runs.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	input io.Closer
	lines *bufio.Scanner
}

var built = map[string]string{}

func start(t *testing.T, name string, args ...string) *program {
	t.Helper()
	if built[name] == "" {
		folder, err := os.MkdirTemp("", "interop")
		must(t, err)
		path := filepath.Join(folder, name)
		out, err := exec.Command("go", "build", "-o", path, "./"+name).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		built[name] = path
	}
	cmd := exec.Command(built[name], args...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	must(t, err)
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &program{t, cmd, input, bufio.NewScanner(output)}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return p
}

func (p *program) says(want string) {
	p.t.Helper()
	if !p.lines.Scan() || p.lines.Text() != want {
		p.t.Fatalf("said %q and not %q", p.lines.Text(), want)
	}
}

func (p *program) ends() {
	p.t.Helper()
	must(p.t, p.cmd.Wait())
}

func (p *program) interrupt() {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(os.Interrupt))
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, path := range built {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

func TestOnlyOneWorkerWorks(t *testing.T) {
	c := client(t)
	key := "-key=" + prefix(t, c) + "job"
	first := start(t, "worker", key)
	first.says("working")
	second := start(t, "worker", key)
	second.says("somebody else does it")
	second.ends()
	first.interrupt()
	first.says("interrupted, cleaning up")
	first.ends()
	pair, _, err := c.KV().Get(strings.TrimPrefix(key, "-key="), nil)
	must(t, err)
	if pair != nil {
		t.Fatalf("the key outlived its session: %+v", pair)
	}
	// Nobody works, and nobody may: the lock-delay.
	third := start(t, "worker", key)
	third.says("somebody else does it")
	third.ends()
}

func TestAWorkerFinishes(t *testing.T) {
	c := client(t)
	key := prefix(t, c) + "job"
	worker := start(t, "worker", "-key="+key)
	worker.says("working")
	pair, _, err := c.KV().Get(key, nil)
	must(t, err)
	entry, _, err := c.Session().Info(pair.Session, nil)
	must(t, err)
	if string(pair.Value) != entry.ID || entry.TTL != "15s" || entry.Behavior != api.SessionBehaviorDelete {
		t.Fatalf("%+v of %+v", pair, entry)
	}
	must(t, worker.input.Close())
	worker.says("finished")
	worker.ends()
	// Whoever comes right after is refused by the lock-delay.
	next := start(t, "worker", "-key="+key)
	next.says("somebody else does it")
	next.ends()
}

func TestAWorkerThatDiesHoldsOnUntilItsSessionEnds(t *testing.T) {
	c := client(t)
	key := prefix(t, c) + "job"
	worker := start(t, "worker", "-key="+key)
	worker.says("working")
	must(t, worker.cmd.Process.Kill())
	_ = worker.cmd.Wait()
	refused := func() {
		t.Helper()
		next := start(t, "worker", "-key="+key)
		next.says("somebody else does it")
		next.ends()
	}
	refused()
	pair, _, err := c.KV().Get(key, nil)
	must(t, err)
	// What would come by itself in half a minute.
	_, err = c.Session().Destroy(pair.Session, nil)
	must(t, err)
	pair, _, err = c.KV().Get(key, nil)
	must(t, err)
	if pair != nil {
		t.Fatalf("the key outlived its session: %+v", pair)
	}
	refused()
}

func TestTheLeadershipIsHandedOver(t *testing.T) {
	c := client(t)
	key := prefix(t, c) + "leader"
	first := start(t, "election", "-key="+key, "-name=first")
	first.says("candidate")
	first.says("leader")
	second := start(t, "election", "-key="+key, "-name=second")
	second.says("candidate")
	first.interrupt()
	first.says("resigned")
	first.ends()
	second.says("leader")
	pair, _, err := c.KV().Get(key, nil)
	must(t, err)
	if string(pair.Value) != "second" || pair.LockIndex != 2 {
		t.Fatalf("%+v", pair)
	}
	// An operator ends the session: the leader learns it from its watch.
	_, err = c.Session().Destroy(pair.Session, nil)
	must(t, err)
	second.says("lost")
	second.ends()
}

func TestACandidateThatIsNotElectedGoesAway(t *testing.T) {
	c := client(t)
	key := prefix(t, c) + "leader"
	id := session(t, c, &api.SessionEntry{})
	_, _, err := c.KV().Acquire(&api.KVPair{Key: key, Session: id}, nil)
	must(t, err)
	candidate := start(t, "election", "-key="+key)
	candidate.says("candidate")
	candidate.interrupt()
	candidate.ends()
}
