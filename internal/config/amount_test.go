package config

import "testing"

func TestParseAmount(t *testing.T) {
	for in, want := range map[string]Amount{
		"0": {}, "1024": {Bytes: 1024}, "200MB": {Bytes: 200e6}, "1.5 gb": {Bytes: 15e8}, "4G": {Bytes: 4e9}, "1TB": {Bytes: 1e12},
		"75%": {Percent: 75}, " 0.5 %": {Percent: 0.5},
	} {
		if got, ok := parseAmount(in); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "B", "GB", "-1", "0%", "101%", "4XB", "NaN", "Inf", "1e40", "4GBB"} {
		if got, ok := parseAmount(in); ok {
			t.Errorf("%q: %+v", in, got)
		}
	}
	if got := (Amount{Percent: 75}).Of(1000); got != 750 {
		t.Errorf("75%% of 1000 is %d", got)
	}
	if got := (Amount{Bytes: 7}).Of(1000); got != 7 {
		t.Errorf("7 bytes are %d", got)
	}
}
