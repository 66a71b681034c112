//go:build unix

package market_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ext/market"
)

// Who ends an install while git waits for its server ends git's helpers, too, and
// nothing is left of it.
func TestInterrupted(t *testing.T) {
	asked, left := make(chan bool, 1), make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
		left <- true
	}))
	t.Cleanup(server.Close)
	s, dir := open(t)
	add(t, s, write(t, t.TempDir(), files{".claude-plugin/marketplace.json": `{"name": "shop", "owner": {"name": "o"}, "plugins": [{"name": "g", "source": {"source": "git", "url": "` + server.URL + `/x.git"}}]}`}))
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	go func() { // ends when git asks, or with the test
		select {
		case <-asked:
		case <-t.Context().Done():
		}
		stop(why)
	}()
	if _, err := s.Prepare(ctx, "g", market.Policy{}); !errors.Is(err, why) {
		t.Error(err)
	}
	select {
	case <-left:
	case <-time.After(time.Minute):
		t.Error("a helper of git runs on")
		server.CloseClientConnections()
	}
	if rest, err := os.ReadDir(filepath.Join(dir, "staging")); err != nil || len(rest) > 0 {
		t.Error(rest, err)
	}
}
