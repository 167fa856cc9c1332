package proconsultest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// How long barriers wait where nothing else is said.
const patience = 10 * time.Second

// Controls is what a test can do to a server, and learn about it. A call that the server refuses ends the test; Try
// returns the refusal instead.
type Controls struct {
	t      testing.TB
	url    string
	client *http.Client
	fail   func(error)
}

// ControlError is an error of the control plane. Status is 409 where a wait timed out.
type ControlError struct {
	Status int
	Text   string
}

func (e *ControlError) Error() string { return e.Text }

// Carries an error to Try.
type refusal struct{ error }

// Try runs calls that may be refused, and returns the first refusal.
func (c *Controls) Try(calls func(*Controls)) (err error) {
	defer func() {
		switch caught := recover().(type) {
		case nil:
		case refusal:
			err = caught.error
		default:
			panic(caught)
		}
	}()
	trying := *c
	trying.fail = func(err error) { panic(refusal{err}) }
	calls(&trying)
	return nil
}

// The fields of a body or a query.
type given map[string]any

// Keeps a value; one that is zero is left out, unless it is needed.
func (g given) set(name string, value any, needed bool) {
	if of := reflect.ValueOf(value); needed || of.IsValid() && !of.IsZero() {
		g[name] = value
	}
}

func (g given) encode() string {
	values := url.Values{}
	for name, value := range g {
		if of := reflect.ValueOf(value); of.Kind() == reflect.Slice {
			for at := 0; at < of.Len(); at++ {
				values.Add(name, fmt.Sprint(of.Index(at)))
			}
		} else {
			values.Set(name, fmt.Sprint(value))
		}
	}
	return values.Encode()
}

func orPatience(duration time.Duration) string {
	if duration == 0 {
		duration = patience
	}
	return duration.String()
}

func durationText(duration time.Duration) string {
	if duration == 0 {
		return ""
	}
	return duration.String()
}

func (c *Controls) call(method, path string, query given, body, answer any) {
	c.t.Helper()
	if err := c.exchange(method, path, query, body, answer); err != nil {
		c.fail(err)
	}
}

func (c *Controls) exchange(method, path string, query given, body, answer any) error {
	target := c.url + path
	if len(query) > 0 {
		target += "?" + query.encode()
	}
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("%s %s: %v", method, path, err)
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, target, sent)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %v; has the server ended?", method, path, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %v", method, path, err)
	}
	if response.StatusCode != http.StatusOK {
		return &ControlError{response.StatusCode, strings.TrimSpace(string(got))}
	}
	if text, isText := answer.(*string); isText {
		*text = string(got)
		return nil
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(got, answer)
}
