//go:build !linux

package proc

import (
	"fmt"
	"os"
)

// Hand returns a descriptor from which a command reads data. Nobody can change
// it: it is a pipe.
func Hand(data string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	go func() { // ends when all is read, or nobody has the other end any more
		_, _ = w.WriteString(data)
		_ = w.Close()
	}()
	return r, nil
}
