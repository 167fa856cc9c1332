package interop

import (
	"errors"
	"testing"

	"github.com/hashicorp/consul/api"
)

func session(t *testing.T, c *api.Client, entry *api.SessionEntry) string {
	t.Helper()
	id, _, err := c.Session().Create(entry, nil)
	must(t, err)
	t.Cleanup(func() {
		_, err := c.Session().Destroy(id, nil)
		must(t, err)
	})
	return id
}

func TestSessionsHoldKeysAndLetThemGo(t *testing.T) {
	c := client(t)
	kv, p := c.KV(), prefix(t, c)
	one := session(t, c, &api.SessionEntry{Name: "one", TTL: "15s", Behavior: api.SessionBehaviorDelete})
	two := session(t, c, &api.SessionEntry{Name: "two"})
	acquire := func(id string, want bool) {
		t.Helper()
		ok, _, err := kv.Acquire(&api.KVPair{Key: p + "k", Value: []byte(id), Session: id}, nil)
		must(t, err)
		if ok != want {
			t.Fatalf("acquire gave %v", ok)
		}
	}
	acquire(one, true)
	acquire(one, true)
	acquire(two, false)
	pair, _, err := kv.Get(p+"k", nil)
	must(t, err)
	if pair.Session != one || pair.LockIndex != 1 {
		t.Fatalf("%+v", pair)
	}
	_, err = c.Session().Destroy(one, nil)
	must(t, err)
	pair, _, err = kv.Get(p+"k", nil)
	must(t, err)
	if pair != nil {
		t.Fatalf("behavior delete left %+v", pair)
	}
	// The lock-delay of 15 s.
	acquire(two, false)
}

func TestSessionsAreReadRenewedAndListed(t *testing.T) {
	c := client(t)
	id := session(t, c, &api.SessionEntry{Name: "me", TTL: "15s"})
	entry, _, err := c.Session().Info(id, nil)
	must(t, err)
	if entry.TTL != "15s" || entry.Behavior != "release" || entry.LockDelay.Seconds() != 15 {
		t.Fatalf("%+v", entry)
	}
	entry, _, err = c.Session().Renew(id, nil)
	must(t, err)
	if entry.ID != id {
		t.Fatalf("renewed %+v", entry)
	}
	for _, list := range []func() ([]*api.SessionEntry, *api.QueryMeta, error){
		func() ([]*api.SessionEntry, *api.QueryMeta, error) { return c.Session().List(nil) },
		func() ([]*api.SessionEntry, *api.QueryMeta, error) { return c.Session().Node(entry.Node, nil) },
	} {
		entries, _, err := list()
		must(t, err)
		found := false
		for _, entry := range entries {
			found = found || entry.ID == id
		}
		if !found {
			t.Fatalf("%s is not in %v", id, entries)
		}
	}
	_, err = c.Session().Destroy(id, nil)
	must(t, err)
	entry, _, err = c.Session().Renew(id, nil)
	must(t, err)
	if entry != nil {
		t.Fatalf("a destroyed session was renewed: %+v", entry)
	}
}

func TestRenewPeriodicEndsWithTheSession(t *testing.T) {
	c := client(t)
	id := session(t, c, &api.SessionEntry{TTL: "10s"})
	done := make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- c.Session().RenewPeriodic("10s", id, nil, done) }()
	close(done)
	must(t, <-ended)
	entry, _, err := c.Session().Info(id, nil)
	must(t, err)
	if entry != nil {
		t.Fatalf("closing the channel destroys the session, and it is still there: %+v", entry)
	}
	// An initial TTL of nearly nothing makes the first renewal come at once.
	err = c.Session().RenewPeriodic("2ms", id, nil, make(chan struct{}))
	if !errors.Is(err, api.ErrSessionExpired) {
		t.Fatalf("a session that is gone ends the renewals with %v", err)
	}
}

func TestALockExcludesAndIsHandedOver(t *testing.T) {
	c := client(t)
	p := prefix(t, c)
	lock := func() *api.Lock {
		l, err := c.LockOpts(&api.LockOptions{Key: p + "lock", Value: []byte("go")})
		must(t, err)
		return l
	}
	one, two := lock(), lock()
	lost, err := one.Lock(nil)
	must(t, err)
	select {
	case <-lost:
		t.Fatal("lost at once")
	default:
	}
	taken := make(chan error)
	go func() {
		_, err := two.Lock(nil)
		taken <- err
	}()
	must(t, one.Unlock())
	<-lost
	must(t, <-taken)
	must(t, two.Unlock())
	must(t, two.Destroy())
}

func TestALockIsLostWithItsSession(t *testing.T) {
	c := client(t)
	p := prefix(t, c)
	id := session(t, c, &api.SessionEntry{})
	l, err := c.LockOpts(&api.LockOptions{Key: p + "lock", Session: id})
	must(t, err)
	lost, err := l.Lock(nil)
	must(t, err)
	_, err = c.Session().Destroy(id, nil)
	must(t, err)
	<-lost
}

func TestASemaphoreForgetsAHolderThatIsGone(t *testing.T) {
	c := client(t)
	p := prefix(t, c)
	semaphore := func(session string) *api.Semaphore {
		s, err := c.SemaphoreOpts(&api.SemaphoreOptions{Prefix: p + "s", Limit: 1, Session: session})
		must(t, err)
		return s
	}
	id := session(t, c, &api.SessionEntry{Name: "db-semaphore"})
	lost, err := semaphore(id).Acquire(nil)
	must(t, err)
	taken := make(chan error)
	next := semaphore(session(t, c, &api.SessionEntry{Name: "db-semaphore"}))
	go func() {
		_, err := next.Acquire(nil)
		taken <- err
	}()
	// Nobody gives the slot back: the contender sees on its own that the holder is gone, and the holder that it lost.
	_, err = c.Session().Destroy(id, nil)
	must(t, err)
	<-lost
	must(t, <-taken)
	must(t, next.Release())
}

func TestASemaphoreHasSoManySlots(t *testing.T) {
	c := client(t)
	p := prefix(t, c)
	semaphore := func(wait bool) *api.Semaphore {
		s, err := c.SemaphoreOpts(&api.SemaphoreOptions{
			Prefix: p + "s", Limit: 2, SemaphoreTryOnce: !wait, SemaphoreWaitTime: 1,
		})
		must(t, err)
		return s
	}
	one, two, three := semaphore(true), semaphore(true), semaphore(false)
	_, err := one.Acquire(nil)
	must(t, err)
	_, err = two.Acquire(nil)
	must(t, err)
	slot, err := three.Acquire(nil)
	must(t, err)
	if slot != nil {
		t.Fatal("a third slot of two")
	}
	must(t, one.Release())
	_, err = semaphore(true).Acquire(nil)
	must(t, err)
}
