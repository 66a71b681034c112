package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/window"
)

// A compaction keeps the skills that were used, the newest first when there is no
// room for all, each cut to its share.
func TestSkillsArePinned(t *testing.T) {
	long := strings.Repeat("line of the skill\n", 5000)
	var used []effect.Skill
	for i := range 8 {
		used = append(used, effect.Skill{Name: fmt.Sprintf("s%d", i), Text: long})
	}
	got := skills(used, window.SharesOf(0, 0))
	if n := len(got); n > 4*maxSkills || n < 4*maxSkills*8/10 || strings.Contains(got, "# s2\n") || !strings.HasSuffix(got, "line of the skill\n") || strings.Index(got, "# s6\n") > strings.Index(got, "# s7\n") {
		t.Errorf("%d bytes: %.200q", len(got), got)
	}
	if got := skills([]effect.Skill{{Name: "a", Text: "do it"}}, window.SharesOf(0, 0)); got != "# a\ndo it" {
		t.Errorf("%q", got)
	}
	if got := skills([]effect.Skill{{Name: strings.Repeat("name", 500), Text: long}}, window.SharesOf(0, 0)); len(got) > 4*maxSkill || len(got) < 4*maxSkill*8/10 {
		t.Errorf("one of a long name has %d bytes", len(got))
	}
	small := window.SharesOf(16_000, 2_000)
	if got := skills(used, small); len(got) > 4*window.RecentFiles*max(small.File, small.Other) || got == "" {
		t.Errorf("in a small window %d bytes", len(got))
	}
	if got := skills(nil, small); got != "" {
		t.Errorf("%q", got)
	}
}
