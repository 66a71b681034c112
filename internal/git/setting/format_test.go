package setting

import "testing"

func TestVerifies(t *testing.T) {
	for format, want := range map[string]bool{
		"": false, "oneline": false, "%h %s": false, "%g": false, "100%Good": true, // git reads it so
		"%G?": true, "%h %GS": true, "%+GK": true, "%-GF": true, "% GP": true, "%n%GG": true,
		"%(refname)": false, "%(signature:key)": true, "%(signature)": true,
	} {
		if got := Verifies(format); got != want {
			t.Errorf("%q: %v", format, got)
		}
	}
}
