package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
)

// Batch says why a program may not be started with these arguments on Windows: a batch
// file is run by cmd.exe, which reads its command line by rules of its own, in which "&"
// ends a command and no quoting holds everything. On other systems it says nothing.
func Batch(path string, args []string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return batch(path, args, func(path string) bool { _, err := os.Stat(path); return err == nil })
}

// cmdReads are what cmd.exe reads as more than text.
const cmdReads = "\"%&|<>^!\r\n"

func batch(path string, args []string, exists func(string) bool) error {
	name := strings.ToLower(strings.TrimRight(path, ". ")) // Windows drops these
	is := func(endings ...string) bool {
		for _, e := range endings {
			if strings.HasSuffix(name, e) {
				return true
			}
		}
		return false
	}
	if !is(".bat", ".cmd") && (is(".exe", ".com") || !exists(path+".bat") && !exists(path+".cmd")) {
		return nil
	}
	for _, a := range append([]string{path}, args...) {
		if strings.ContainsAny(a, cmdReads) {
			return fmt.Errorf("%w: %s", errBatch, clip.Line(clip.Visible(a), 100))
		}
	}
	return nil
}

var errBatch = errors.New("a batch file is started by cmd.exe, which would read a part of this as commands")
