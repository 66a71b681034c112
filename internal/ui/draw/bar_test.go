package draw_test

import (
	"math"
	"testing"

	"github.com/adze-agent/adze/internal/ui/draw"
)

func TestBar(t *testing.T) {
	tests := []struct {
		part  float64
		ascii bool
		want  string
	}{
		{0, false, ""}, {-1, false, ""}, {math.NaN(), false, ""}, {0.0001, false, "▏"}, {0.0001, true, "#"},
		{0.5, false, "██"}, {0.5, true, "##"}, {0.6, false, "██▍"}, {0.6, true, "##"}, {1, false, "████"}, {7, false, "████"}, {math.Inf(1), true, "####"},
	}
	for _, tt := range tests {
		if got := draw.Bar(tt.part, 4, draw.Accent, tt.ascii); got.Text != tt.want || draw.Width(got.Text) > 4 {
			t.Errorf("%v: %q, want %q", tt.part, got.Text, tt.want)
		}
	}
	if got := draw.Bar(1, 0, draw.Accent, false); got.Text != "" {
		t.Errorf("a bar of no width: %q", got.Text)
	}
}
