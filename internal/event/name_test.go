package event_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
)

func TestUUIDSurvivesTheLog(t *testing.T) {
	e := event.Event{Seq: 7, Time: time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC), Body: event.Titled{Title: "x"}}
	line, err := event.AppendLine(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	read, err := event.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	if read.UUID() != e.UUID() {
		t.Errorf("%s became %s", e.UUID(), read.UUID())
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(e.UUID()) {
		t.Errorf("%s is no UUID of version 8", e.UUID())
	}
	e.Seq++
	if read.UUID() == e.UUID() {
		t.Error("the next event has the same name")
	}
}
