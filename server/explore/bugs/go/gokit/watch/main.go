// Command watch follows the instances of the service "config" with the Instancer of go-kit.
//
// v0.10.0 reads in a busy loop while Consul reports index 0 (go-kit/kit#997). v0.11.0 fixed that, but keeps no index of an
// answer: after the first change it reads in a busy loop with the index of its first answer (go-kit/kit#1214).
package main

import (
	"os"
	"sort"
	"strings"

	"github.com/go-kit/kit/log"
	"github.com/go-kit/kit/sd"
	"github.com/go-kit/kit/sd/consul"
	"github.com/hashicorp/consul/api"

	"proconsul/bugs/contender"
)

func main() {
	c := contender.New()
	config := api.DefaultConfig()
	config.Address = c.Address
	client, err := api.NewClient(config)
	contender.Must(err)
	logger := log.NewLogfmtLogger(os.Stderr)
	instancer := consul.NewInstancer(consul.NewClient(client), logger, "config", nil, false)
	events := make(chan sd.Event, 1)
	instancer.Register(events)
	for event := range events {
		if event.Err != nil {
			contender.Report(event.Err)
			continue
		}
		contender.Saw(list(event.Instances))
	}
}

// list has a fixed order, and a word for an empty list.
func list(instances []string) string {
	if len(instances) == 0 {
		return "none"
	}
	instances = append([]string{}, instances...)
	sort.Strings(instances)
	return strings.Join(instances, ",")
}
