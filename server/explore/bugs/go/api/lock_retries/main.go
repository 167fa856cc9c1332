// Command lock_retries holds an api.Lock whose monitor retries five times, and makes a new one when the lock is lost.
//
// The retries are for errors of the network and for status 500. Status 429, by which a Consul says that it is busy, ends
// the lock at once (hashicorp/consul#1457 has the condition).
package main

import (
	"proconsul/bugs/api/compete"
	"proconsul/bugs/contender"
)

func main() {
	c := contender.New()
	for {
		lock, err := compete.New(c, 5)
		contender.Must(err)
		if err := lock.Once(c); err != nil {
			contender.Rest(err)
		}
	}
}
