package settings

import (
	"fmt"
	"strings"
	"testing"
)

// Who starts while rules are written for this copy of the folder finds it trusted in each
// moment, and all rules that were there before.
func TestFolderStaysTrustedWhileItIsWritten(t *testing.T) {
	e := run(t, nil)
	p, _, err := Load(e, Sources{})
	if err != nil {
		t.Fatal(err)
	}
	e.Note = func(text string) { t.Errorf("somebody who starts is told: %s", text) }
	const rules = 12
	done := make(chan error, 1)
	go func() { // ends with the last rule
		done <- func() error {
			for i := range rules {
				to, edits, err := Allow(p, "local", []string{fmt.Sprintf("Bash(rule-%d)", i)}, false)
				if err != nil {
					return err
				}
				if notes, err := Write(t.Context(), p, to, edits...); err != nil || len(notes) > 0 {
					return fmt.Errorf("%s %w", notes, err)
				}
			}
			return nil
		}()
	}()
	for had, over := 0, false; !over; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		default:
		}
		_, cfg, err := Load(e, Sources{})
		if err != nil {
			t.Fatal(err)
		}
		now := 0
		for _, r := range cfg.Permissions.Allow {
			if strings.HasPrefix(r.Text, "Bash(rule-") {
				now++
			}
		}
		if now < had || over && now != rules {
			t.Fatalf("%d rules, of %d that were there", now, had)
		}
		had = now
	}
}
