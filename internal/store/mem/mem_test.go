package mem_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/mem"
	"github.com/adze-agent/adze/internal/store/storetest"
)

func TestLog(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Log { return &mem.Log{} })
}
