// Command lock_new holds an api.Lock with its defaults, and makes a new one when the lock is lost.
//
// The monitor gives up on its first error, but the session of the lock that it reports as lost is renewed for ever: the key
// stays held, and nobody leads (hashicorp/consul#2371, hashicorp/consul#4935).
package main

import (
	"proconsul/bugs/api/compete"
	"proconsul/bugs/contender"
)

func main() {
	c := contender.New()
	for {
		lock, err := compete.New(c, 0)
		contender.Must(err)
		if err := lock.Once(c); err != nil {
			contender.Rest(err)
		}
	}
}
