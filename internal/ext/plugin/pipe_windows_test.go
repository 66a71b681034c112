package plugin_test

import "testing"

func pipe(*testing.T, string) {}
