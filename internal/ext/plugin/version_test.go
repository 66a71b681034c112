package plugin_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/ext/plugin"
)

// In order, after semver.org.
var ordered = []string{"0.0.0", "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"}

func TestCompare(t *testing.T) {
	for i, a := range ordered {
		for k, b := range ordered {
			v, errV := plugin.ParseVersion("v" + a + "+build.7")
			w, errW := plugin.ParseVersion(b)
			want := 0
			if i < k {
				want = -1
			} else if i > k {
				want = 1
			}
			if got := v.Compare(w); got != want || errV != nil || errW != nil {
				t.Errorf("%s and %s: %d, want %d (%v, %v)", a, b, got, want, errV, errW)
			}
		}
	}
	for _, bad := range []string{"", "1", "1.2", "1.2.x", "a.b.c", "1.2.3.4", "-1.2.3", "1.+2.3", "99999999999999999999.0.0"} {
		if v, err := plugin.ParseVersion(bad); err == nil {
			t.Errorf("%q: %v", bad, v)
		}
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		in      string
		yes, no []string
	}{
		{"", []string{"0.0.0", "9.9.9", "1.0.0-rc.1"}, nil},
		{"*", []string{"0.0.0", "9.9.9"}, nil},
		{"^1.2.3", []string{"1.2.3", "1.9.0"}, []string{"1.2.2", "2.0.0", "2.0.0-rc.1", "1.3.0-rc.1"}},
		{"^1.2", []string{"1.2.0", "1.9.0"}, []string{"1.1.9", "2.0.0"}},
		{"^0.2.3", []string{"0.2.3", "0.2.9"}, []string{"0.3.0", "0.2.2"}},
		{"^0.0.3", []string{"0.0.3"}, []string{"0.0.4"}},
		{"^0", []string{"0.0.1", "0.9.0"}, []string{"1.0.0"}},
		{"~1.2.3", []string{"1.2.3", "1.2.9"}, []string{"1.3.0"}},
		{"~1", []string{"1.0.0", "1.9.9"}, []string{"2.0.0"}},
		{"1.x", []string{"1.0.0", "1.9.9"}, []string{"2.0.0", "0.9.0"}},
		{"1.2.3", []string{"1.2.3"}, []string{"1.2.4", "1.2.3-rc.1"}},
		{"=1.2", []string{"1.2.7"}, []string{"1.3.0"}},
		{">=1 <3", []string{"1.0.0", "2.9.9"}, []string{"3.0.0", "0.9.0"}},
		{">= 1.2", []string{"1.2.0", "7.0.0"}, []string{"1.1.0"}},
		{">1", []string{"2.0.0"}, []string{"1.9.0"}},
		{"<=1.2", []string{"1.2.9"}, []string{"1.3.0"}},
		{"1.0 - 2.0", []string{"1.0.0", "2.0.9"}, []string{"2.1.0"}},
		{"1.0.0 - 2.0.0", []string{"2.0.0"}, []string{"2.0.1"}},
		{"^1 || ^3.1", []string{"1.5.0", "3.1.0"}, []string{"2.0.0", "3.0.0"}},
		{"^1.0.0-rc.1", []string{"1.0.0-rc.2", "1.0.0", "1.1.0"}, []string{"1.0.0-beta", "1.1.0-rc.1"}},
	} {
		r, err := plugin.ParseRange(c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		for want, list := range map[bool][]string{true: c.yes, false: c.no} {
			for _, s := range list {
				v, err := plugin.ParseVersion(s)
				if got := r.Has(v); got != want || err != nil {
					t.Errorf("%q has %s: %v (%v)", c.in, s, got, err)
				}
			}
		}
	}
	for _, bad := range []string{"one", "^", "><1", "^^1", "1.2.3.4", "latest"} {
		if _, err := plugin.ParseRange(bad); err == nil {
			t.Errorf("%q is a range", bad)
		}
	}
}

func FuzzRange(f *testing.F) {
	f.Add("^1.2 || >=3 <4.x - 5", "1.2.3-rc.1")
	f.Fuzz(func(t *testing.T, in, version string) {
		r, err := plugin.ParseRange(in)
		v, errV := plugin.ParseVersion(version)
		if err == nil && errV == nil {
			r.Has(v)
			if v.Compare(v) != 0 {
				t.Errorf("%v is not itself", v)
			}
		}
	})
}
