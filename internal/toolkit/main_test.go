package toolkit

import (
	"testing"

	"github.com/adze-agent/adze/internal/app/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
