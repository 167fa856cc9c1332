package test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/proconsul/proconsultest"
	"example.com/proconsul/proconsultest/inprocess"
	"github.com/hashicorp/consul/api"
)

func consul(t testing.TB, server *proconsultest.Server) *api.Client {
	t.Helper()
	client, err := api.NewClient(&api.Config{HttpClient: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// An hour in which a hundred sessions of a lock are lost. Returns the history.
func anHourOfLosses(t *testing.T) (history string) {
	synctest.Test(t, func(t *testing.T) {
		server := inprocess.New(t, proconsultest.Seed(7))
		client := consul(t, server)
		began := time.Now()
		for at := 1; at <= 100; at++ {
			lock, err := client.LockOpts(&api.LockOptions{Key: "leader", SessionTTL: "10s", LockDelay: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			lost, err := lock.Lock(nil)
			if err != nil {
				t.Fatal(err)
			}
			// What two goroutines do at one moment has no order: the lock's own wait for Consul before the test goes on.
			synctest.Wait()
			holder, _, err := client.KV().Get("leader", nil)
			if err != nil || holder.Session == "" {
				t.Fatal(holder, err)
			}
			if _, err := client.Session().Destroy(holder.Session, nil); err != nil {
				t.Fatal(err)
			}
			<-lost
			time.Sleep(time.Until(began.Add(time.Duration(at) * 36 * time.Second)))
		}
		if passed := time.Since(began); passed != time.Hour {
			t.Errorf("%v have passed", passed)
		}
		history = server.HistoryText()
	})
	return history
}

func TestALockIsLostAHundredTimesInAnHour(t *testing.T) {
	// Compiles the module, once for the process.
	inprocess.New(t)
	first := anHourOfLosses(t)
	if lost := strings.Count(first, "destroyed"); lost < 100 {
		t.Errorf("%d sessions were lost:\n%s", lost, first)
	}
	began := time.Now()
	second := anHourOfLosses(t)
	t.Logf("an hour took %v", time.Since(began))
	if first != second {
		t.Errorf("the same seed has another history:\n%s\n%s", first, second)
	}
}

func TestTheClockOfABubbleMovesTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := inprocess.New(t)
		client := consul(t, server)
		id, _, err := client.Session().CreateNoChecks(&api.SessionEntry{TTL: "10s"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		// It is parked when the server ends.
		go func() { _, _, _ = client.KV().Get("a", &api.QueryOptions{WaitIndex: 1 << 40}) }()
		began := time.Now()
		time.Sleep(21 * time.Second)
		if entry, _, err := client.Session().Info(id, nil); entry != nil || err != nil {
			t.Error(entry, err)
		}
		client.Session().Destroy(id, nil)
		if passed := time.Since(began); passed != 21*time.Second {
			t.Errorf("%v have passed", passed)
		}
		f := &fake{}
		said := f.run(func() { inprocess.New(f, proconsultest.Listen()) })
		expect(t, said, "a server cannot listen", "use its Client")
	})
}

func TestAServerInProcessTakesTheOptions(t *testing.T) {
	folder := t.TempDir()
	files := map[string]string{"keys.json": `[{"key": "config/a b", "flags": 7, "value": "cmVk"}]`, "one.hcl": `node_name = "of-file" datacenter = "of-file"`}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A flag wins over a file, wherever it stands.
	flag := proconsultest.Config(`datacenter = "of-flag"`)
	server := inprocess.New(t, flag, proconsultest.Listen(), proconsultest.ACL("root"), proconsultest.Data(filepath.Join(folder, "keys.json")), proconsultest.Files(filepath.Join(folder, "one.hcl")))
	client, err := api.NewClient(&api.Config{Address: server.Address, Token: "root"})
	if err != nil {
		t.Fatal(err)
	}
	pair, _, err := client.KV().Get("config/a b", nil)
	if err != nil || string(pair.Value) != "red" || pair.Flags != 7 {
		t.Error(pair, err)
	}
	if about := server.Server(); about.Node != "of-file" || about.Datacenter != "of-flag" {
		t.Error(about)
	}
	for _, row := range []struct {
		option proconsultest.Option
		said   string
	}{
		{proconsultest.HTTPS(), "need the binary"},
		{proconsultest.Args("-no-such-flag"), "no-such-flag"},
		{proconsultest.AsVersion("9.9"), "Consul 9.9 is not known"},
	} {
		f := &fake{}
		expect(t, f.run(func() { inprocess.New(f, row.option) }), row.said)
	}
}

func TestFaultsReachTheClientOfAServerInProcess(t *testing.T) {
	server := inprocess.New(t, proconsultest.Listen())
	get := func(client *http.Client) error {
		response, err := client.Get(server.URL + "/v1/kv/a")
		if err == nil {
			_, err = io.ReadAll(response.Body)
			response.Body.Close()
		}
		return err
	}
	for _, client := range []*http.Client{server.Client(), {Transport: &http.Transport{DisableKeepAlives: true}}} {
		server.Fault(proconsultest.FaultOptions{Effect: proconsultest.ResetEffect{}, KeyPrefix: "a"})
		if err := get(client); !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		server.ClearFaults()
		if err := get(client); err != nil {
			t.Error(err)
		}
	}
}
