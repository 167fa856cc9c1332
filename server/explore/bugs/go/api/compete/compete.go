// Package compete runs for a lock with api.Lock.
package compete

import (
	"context"

	"github.com/hashicorp/consul/api"
	"proconsul/bugs/contender"
)

// Lock is a lock for one use.
type Lock struct {
	*api.Lock
	client *api.Client
}

// New makes a lock whose session has the TTL and lock-delay of the contender.
func New(c *contender.Contender, monitorRetries int) (*Lock, error) {
	config := api.DefaultConfig()
	config.Address = c.Address
	client, err := api.NewClient(config)
	if err != nil {
		return nil, err
	}
	lock, err := client.LockOpts(&api.LockOptions{
		Key:            contender.LockKey,
		Value:          []byte(c.Name),
		SessionTTL:     c.TTL.String(),
		LockDelay:      c.LockDelay,
		MonitorRetries: monitorRetries,
	})
	return &Lock{lock, client}, err
}

// Once takes the lock, works until it is lost, and returns.
func (l *Lock) Once(c *contender.Contender) error {
	lost, err := l.Lock.Lock(nil)
	if err != nil {
		return err
	}
	c.Hold(lost, l.write)
	return nil
}

func (l *Lock) write(ctx context.Context, value string) error {
	pair := &api.KVPair{Key: contender.WorkKey, Value: []byte(value)}
	_, err := l.client.KV().Put(pair, new(api.WriteOptions).WithContext(ctx))
	return err
}
