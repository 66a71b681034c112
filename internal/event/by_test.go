package event_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/event"
)

func TestByReadsWhatLogsHold(t *testing.T) {
	for text, want := range map[string]event.By{
		"interrupt": {Kind: event.ByInterrupt}, "hook:guard": {event.ByHook, "guard"}, "rule:Bash(ls)": {event.ByRule, "Bash(ls)"},
		"host": event.Client("host"), "my:client": event.Client("my:client"), "": event.Client(""),
	} {
		var got event.By
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want || got.String() != text {
			t.Errorf("%q: %+v, %q, %v", text, got, got, err)
		}
		if got.Person() != (want.Kind == event.ByClient) {
			t.Errorf("%q: a person is %v", text, got.Person())
		}
	}
}
