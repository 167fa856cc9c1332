package lock

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"example.com/proconsul/proconsultest/inprocess"
	"github.com/hashicorp/consul/api"
)

// A service under test, its caller and Consul, all in one bubble: Go's test server has a network in memory there.
func TestAServiceLosesItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := api.NewClient(&api.Config{HttpClient: inprocess.New(t).Client()})
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := client.Session().Create(&api.SessionEntry{TTL: "10s"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		service := httptest.NewTestServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if entry, _, err := client.Session().Info(session, nil); err != nil || entry == nil {
				http.Error(w, "not the leader", http.StatusServiceUnavailable)
			}
		}))
		status := func() int {
			response, err := service.Client().Get(service.URL)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			return response.StatusCode
		}
		if before := status(); before != http.StatusOK {
			t.Error(before)
		}
		time.Sleep(21 * time.Second)
		if after := status(); after != http.StatusServiceUnavailable {
			t.Error(after)
		}
	})
}
