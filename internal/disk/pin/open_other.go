//go:build !linux

package pin

import "os"

func quick(string) (*os.Root, bool, error) { return nil, false, nil }
