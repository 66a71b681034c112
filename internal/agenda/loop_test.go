package agenda

import (
	"testing"
	"time"
)

// What a person says of a loop.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		args   string
		every  time.Duration
		prompt string
	}{
		{"5m look at CI", 5 * time.Minute, "look at CI"}, {"  2h   /review 12 ", 2 * time.Hour, "/review 12"}, {"10s look", time.Minute, "look"}, {"1d", 24 * time.Hour, ""}, {"5m", 5 * time.Minute, ""},
		{"look at CI every 20m", 20 * time.Minute, "look at CI"}, {"look at CI, every 3 Hours", 3 * time.Hour, "look at CI"}, {"look every 2 min", 2 * time.Minute, "look"}, {"look every 0m", 0, "look every 0m"},
		{"look until it is empty", 0, "look until it is empty"}, {"check every PR", 0, "check every PR"}, {"every 5m", 0, "every 5m"}, {"m5 look", 0, "m5 look"}, {"-5m look", 0, "-5m look"}, {"", 0, ""}, {"99999m look", 0, "99999m look"},
	} {
		if d, prompt := interval(c.args); d != c.every || prompt != c.prompt {
			t.Errorf("%q: %s %q", c.args, d, prompt)
		}
	}
}
