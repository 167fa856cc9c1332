// Command lock holds an api.Lock with its defaults, and calls Unlock when the lock is lost.
//
// api.Lock drops what RenewPeriodic returns. A holder whose requests get no answer stays the holder, although its
// renewals fail, until the read of its monitor ends (hashicorp/consul#18271).
package main

import (
	"proconsul/bugs/api/compete"
	"proconsul/bugs/contender"
)

func main() {
	c := contender.New()
	lock, err := compete.New(c, 0)
	contender.Must(err)
	for {
		if err := lock.Once(c); err != nil {
			contender.Rest(err)
			continue
		}
		// Ends the renewals of the old session.
		if err := lock.Unlock(); err != nil {
			contender.Report(err)
		}
	}
}
