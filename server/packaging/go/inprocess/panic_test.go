package inprocess

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"example.com/proconsul/proconsultest/internal/inside"
)

// Keeps what fails the test.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Errorf(format string, of ...any) { r.said += fmt.Sprintf(format, of...) }

func TestAPanicFailsTheTestAndEndsTheServer(t *testing.T) {
	failed := &recorder{TB: t}
	opened, err := open(failed, inside.Asked{Arguments: []string{"-dev"}})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.End()
	connection, err := opened.Dial(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = opened.Log.(*server).give(99, 0, nil)
	const text = "there is no input of kind 99"
	if !strings.Contains(failed.said, text) {
		t.Errorf("%q does not fail the test: %q", text, failed.said)
	}
	if _, err := connection.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), text) {
		t.Error(err)
	}
	if _, err := opened.Dial(context.Background(), 0); err == nil || !strings.Contains(err.Error(), text) {
		t.Error(err)
	}
}
