package mem_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/store/storetest"
)

func TestCatalogue(t *testing.T) {
	storetest.RunCatalogue(t, func(*testing.T) storetest.Catalogue {
		n := 0
		return &mem.Catalogue{Now: time.Now, NewID: func() (string, error) { n++; return fmt.Sprintf("copy-%d", n), nil }}
	})
}
