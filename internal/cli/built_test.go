package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/slowtest"
)

// raced reports whether a script or a test runs adze with the race detector: it
// takes three times the processor of one without, and tests here start thousands.
// So where it is on, a sixth of them do and the others run adze as it is built for
// people. The terminal UI always has it.
func raced(name string) bool {
	return !raceDetector || strings.HasPrefix(name, "TestUI") || slowtest.OneOf(6, name)
}

// builtIn is the folder that built made; "" when no test asked for one.
var builtIn string

// built is the folder of an adze without the race detector, made when it is first
// asked for.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "adze-built-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, "adze"), "../../cmd/adze")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build: %w: %s", err, out)
	}
	return dir, nil
})

// adzeOf is the adze that a test runs, and the PATH on which it comes first.
func adzeOf(t *testing.T) (path, search string) {
	t.Helper()
	path, err := exec.LookPath("adze") // testscript puts it there
	search = os.Getenv("PATH")
	if name, _, _ := strings.Cut(t.Name(), "/"); err == nil && !raced(name) {
		var dir string
		dir, err = built()
		path, search = filepath.Join(dir, "adze"), dir+":"+search
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, search
}

// running removes what was built when all tests are over.
type running struct{ *testing.M }

// Run implements testscript.TestingM.
func (r running) Run() int {
	code := r.M.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	return code
}
