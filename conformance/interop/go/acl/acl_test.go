// Package acl holds the official Go client against a server with ACLs, at CONSUL_HTTP_ADDR; MANAGEMENT is a token
// that may do everything there.
package acl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
)

const (
	writesSessions = `session_prefix "" { policy = "write" } `
	writesKeys     = `key_prefix "service/" { policy = "write" }`
	readsKeys      = `key_prefix "service/" { policy = "read" }`
)

func as(t *testing.T, token string) *api.Client {
	t.Helper()
	config := api.DefaultConfig()
	config.Token = token
	c, err := api.NewClient(config)
	must(t, err)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// with is a client whose token has a new policy of these rules; both go with the test.
func with(t *testing.T, name, rules string) *api.Client {
	t.Helper()
	management := as(t, os.Getenv("MANAGEMENT")).ACL()
	name = fmt.Sprintf("go-%d-%s", os.Getpid(), name)
	policy, _, err := management.PolicyCreate(&api.ACLPolicy{Name: name, Rules: rules}, nil)
	must(t, err)
	links := []*api.ACLTokenPolicyLink{{ID: policy.ID}}
	token, _, err := management.TokenCreate(&api.ACLToken{Description: name, Policies: links}, nil)
	must(t, err)
	t.Cleanup(func() {
		_, err := management.TokenDelete(token.AccessorID, nil)
		must(t, err)
		_, err = management.PolicyDelete(policy.ID, nil)
		must(t, err)
	})
	return as(t, token.SecretID)
}

// refused requires a 403 with these words.
func refused(t *testing.T, what string, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), words) {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestTheGuideToLeaderElection(t *testing.T) {
	leader := with(t, "leader", writesSessions+writesKeys)
	sessionless := with(t, "sessionless", writesKeys)
	keyless := with(t, "keyless", writesSessions+readsKeys)
	key := fmt.Sprintf("service/go-%d/leader", os.Getpid())

	id, _, err := leader.Session().Create(&api.SessionEntry{Name: "candidate", TTL: "15s"}, nil)
	must(t, err)
	pair := &api.KVPair{Key: key, Value: []byte("candidate"), Session: id}
	acquired, _, err := leader.KV().Acquire(pair, nil)
	must(t, err)
	held, meta, err := leader.KV().Get(key, nil)
	must(t, err)
	if !acquired || held.Session != id {
		t.Fatalf("acquired %v, held by %+v", acquired, held)
	}
	entry, _, err := leader.Session().Renew(id, nil)
	must(t, err)
	if entry.ID != id {
		t.Fatalf("renewed %+v", entry)
	}

	_, _, err = sessionless.Session().Create(&api.SessionEntry{Name: "candidate"}, nil)
	refused(t, "a session without session:write", err, "Permission denied")
	_, err = sessionless.Session().Destroy(id, nil)
	refused(t, "an end without session:write", err, "Permission denied")
	other, _, err := keyless.Session().Create(&api.SessionEntry{Name: "candidate"}, nil)
	must(t, err)
	_, _, err = keyless.KV().Acquire(&api.KVPair{Key: key, Session: other}, nil)
	refused(t, "a lock without key:write", err, "Permission denied")
	_, _, err = keyless.KV().Release(pair, nil)
	refused(t, "a release without key:write", err, "Permission denied")
	_, err = as(t, "99999999-9999-4999-8999-999999999999").KV().Put(pair, nil)
	refused(t, "an unknown token", err, "ACL not found")

	watched := make(chan *api.KVPair, 1)
	go func() {
		now, _, err := keyless.KV().Get(key, &api.QueryOptions{WaitIndex: meta.LastIndex})
		if err != nil {
			t.Error(err)
		}
		watched <- now
	}()
	released, _, err := leader.KV().Release(pair, nil)
	must(t, err)
	if now := <-watched; !released || now == nil || now.Session != "" {
		t.Fatalf("released %v, then %+v", released, now)
	}
	_, err = keyless.Session().Destroy(other, nil)
	must(t, err)
	_, err = leader.Session().Destroy(id, nil)
	must(t, err)
	_, err = leader.KV().Delete(key, nil)
	must(t, err)
}

func TestTheLockOfTheClient(t *testing.T) {
	key := fmt.Sprintf("service/go-%d/lock", os.Getpid())
	lock, err := with(t, "locks", writesSessions+writesKeys).LockKey(key)
	must(t, err)
	lost, err := lock.Lock(nil)
	must(t, err)
	select {
	case <-lost:
		t.Fatal("the lock was lost")
	default:
	}
	must(t, lock.Unlock())
	must(t, lock.Destroy())

	for name, rules := range map[string]string{
		"without-sessions": writesKeys,
		"without-keys":     writesSessions + readsKeys,
	} {
		lock, err := with(t, name, rules).LockKey(key)
		must(t, err)
		_, err = lock.Lock(nil)
		refused(t, name, err, "Permission denied")
	}
}

func TestRefusalsOfTokens(t *testing.T) {
	self, _, err := with(t, "reads", `acl = "read"`).ACL().TokenReadSelf(nil)
	must(t, err)
	if len(self.Policies) != 1 {
		t.Fatalf("%+v", self)
	}
	_, _, err = with(t, "nothing", "").ACL().TokenList(nil)
	refused(t, "a list without acl:read", err, "Permission denied")
	_, _, err = with(t, "reader", `acl = "read"`).ACL().PolicyCreate(&api.ACLPolicy{Name: "x"}, nil)
	refused(t, "a policy without acl:write", err, "Permission denied")
}
