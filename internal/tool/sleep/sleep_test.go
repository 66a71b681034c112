package sleep_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/sleep"
)

// It sleeps as long as it is told, and less where something arrives.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrives := make(chan struct{})
		s := sleep.New(func() <-chan struct{} { return arrives })
		began := time.Now()
		run := func(ctx context.Context, in string) tool.Result {
			res, err := s.Run(ctx, json.RawMessage(in), tool.Env{})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		if r := run(t.Context(), `{"duration":90}`); r.Text != "1m30s have passed." || time.Since(began) != 90*time.Second {
			t.Errorf("%q after %s", r.Text, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if r := run(ctx, `{"duration":3600}`); !r.IsErr || r.Text != "interrupted" {
			t.Errorf("%+v", r)
		}
		go func() {
			time.Sleep(30 * time.Second)
			close(arrives)
		}()
		if r := run(t.Context(), `{"duration":3600}`); r.Text != "Something arrived after 30s." {
			t.Errorf("%q", r.Text)
		}
		for _, in := range []string{`{"duration":0}`, `{"duration":-1}`, `{"duration":3601}`, `{"duration":1e300}`} {
			if _, err := s.Plan(json.RawMessage(in), tool.Env{}); err == nil || !strings.Contains(err.Error(), "duration") {
				t.Errorf("%s: %v", in, err)
			}
		}
	})
}
