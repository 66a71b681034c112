package sessions_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/store/storetest"
)

func TestCatalogue(t *testing.T) {
	storetest.RunCatalogue(t, func(t *testing.T) storetest.Catalogue {
		return sessions.Store{Dir: filepath.Join(t.TempDir(), "projects"), Now: time.Now, Rand: rand.Reader, Key: make([]byte, 32)}
	})
}
