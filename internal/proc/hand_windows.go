package proc

import (
	"errors"
	"os"
)

// Hand does not exist on Windows, where a command inherits no descriptors.
func Hand(string) (*os.File, error) {
	return nil, errors.New("commands inherit no descriptors on Windows")
}
