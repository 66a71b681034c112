package bash

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/proc"
)

// What comes in another encoding is text all the same; what is no text stays binary.
func TestOutputInOtherEncodings(t *testing.T) {
	for in, want := range map[string]string{
		"\x93\xfa\x96\x7b\x8c\xea\n": "日本語", "caf\xe9 d\xe9j\xe0 vu\n": "café déjà vu", "\xff\xfeh\x00i\x00": "hi",
		"\xd6\xd0\xce\xc4\xd7\xa2\xca\xcd\xc4\xda\xc8\xdd\n": "中文注释内容", "a\x00b": "a\nb", "\x1f\x8b\x08\x03\xf3\x06\x9c\xfe\x01": "[binary output",
	} {
		if got, _ := show(proc.Kept{Head: []byte(in), Total: int64(len(in))}, ""); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q", in, got)
		}
	}
	long := strings.Repeat("caf\xe9 d\xe9j\xe0 vu\n", 10)
	got, _ := show(proc.Kept{Head: []byte(long + "caf"), Tail: []byte("vu\n" + long), Gone: 9, Total: 1000}, "")
	if strings.Count(got, "café déjà vu") != 20 {
		t.Errorf("parts: %q", got)
	}
}
