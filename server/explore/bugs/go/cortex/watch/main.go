// Command watch follows a key with the Consul client of Cortex.
//
// In v0.2.0 an answer with the index of its request is skipped, without a look at the value and without a pause. Index 0 of
// the first answer is such an index: while Consul reports it, the client reads in a busy loop and reports no
// value (cortexproject/cortex#1708). While there is no key it sleeps between its reads, longer each time, up to a minute, and sees
// a new key as late (cortexproject/cortex#1756).
package main

import (
	"context"
	"flag"

	"github.com/cortexproject/cortex/pkg/ring/kv/codec"
	"github.com/cortexproject/cortex/pkg/ring/kv/consul"

	"proconsul/bugs/contender"
)

func main() {
	c := contender.New()
	var config consul.Config
	flags := flag.NewFlagSet("consul", flag.PanicOnError)
	config.RegisterFlags(flags, "")
	config.Host = c.Address
	// v0.4.0 has a limit of reads per second, which is off unless it is set.
	const limit = "consul.watch-rate-limit"
	if flags.Lookup(limit) != nil {
		contender.Must(flags.Set(limit, "1"))
	}
	client, err := consul.NewClient(config, codec.String{})
	contender.Must(err)
	client.WatchKey(context.Background(), contender.WatchedKey, func(value interface{}) bool {
		contender.Saw(value.(string))
		return true
	})
}
