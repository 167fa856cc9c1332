package lock

import (
	"testing"
	"testing/synctest"
	"time"

	"example.com/proconsul/proconsultest/inprocess"
	"github.com/hashicorp/consul/api"
)

func TestASessionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := api.NewClient(&api.Config{HttpClient: inprocess.New(t).Client()})
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := client.Session().Create(&api.SessionEntry{TTL: "10s"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(21 * time.Second) // moves the server's clock, too
		if entry, _, err := client.Session().Info(session, nil); err != nil || entry != nil {
			t.Error(entry, err)
		}
	})
}
