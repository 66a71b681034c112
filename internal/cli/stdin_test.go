package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A pipe that stays open and silent beside a prompt is not waited for; one that begins in
// time is read whole, however long it takes.
func TestSilentStdin(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		send   []time.Duration // when a line comes
		want   string
		said   string
		after  time.Duration
	}{
		"silent":             {"hi", nil, "hi", "nothing came on stdin for 3s", 3 * time.Second},
		"begins in time":     {"hi", []time.Duration{2 * time.Second, 20 * time.Second}, "hi\n\nline\nline", "waiting for the end of stdin", 20 * time.Second},
		"begins later":       {"hi", []time.Duration{5 * time.Second}, "hi", "nothing came on stdin for 3s", 3 * time.Second},
		"at once":            {"hi", []time.Duration{0}, "hi\n\nline", "", 0},
		"no prompt but this": {"", []time.Duration{time.Hour}, "line", "", time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				over := make(chan struct{})
				go func() { // ends with the test
					var at time.Duration
					for _, when := range c.send {
						select {
						case <-time.After(when - at):
						case <-over:
							return
						}
						at = when
						_, _ = io.WriteString(w, "line\n")
					}
					if c.send == nil {
						<-over
					}
					_ = w.Close()
				}()
				ctx, cancel := context.WithCancel(context.Background())
				var errs bytes.Buffer
				start := time.Now()
				got, err := piped(ctx, r, &errs, c.prompt)
				took := time.Since(start)
				cancel()
				close(over)
				_ = r.Close()
				if err != nil || got != c.want || took != c.after || c.said == "" != (errs.Len() == 0) || !strings.Contains(errs.String(), c.said) {
					t.Errorf("%q after %v, %v; said %q", got, took, err, errs.String())
				}
			})
		})
	}
}
