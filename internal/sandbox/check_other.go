//go:build !linux

package sandbox

import (
	"context"
	"errors"
)

// Check tries to get out of the sandbox; it knows how on Linux only.
func Check(ctx context.Context, c Config) (Level, []Try, error) {
	return Probe(ctx, c), nil, errors.New("the tries are written for Linux only")
}

// Helper is what this program does when the sandbox started it again.
func Helper([]string) int { return 2 }
