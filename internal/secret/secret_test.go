package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/secret"
)

// join keeps the fake keys out of this file in one piece.
func join(parts ...string) string { return strings.Join(parts, "") }

// key has what formats treat differently: letters, digits, marks.
var key = join("sk", `-ant/api03+Pl4nT&d "q\0'%7=ü-`, "k3Y_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-tail")

// A format is one way in which a program shows a key. whole: nothing of what
// it prints besides before and after is left.
type format struct {
	name string
	text string
	want string // what is to be seen instead
}

func reverse(s string) string { b := []byte(s); slices.Reverse(b); return string(b) }

func every(s, f string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, f, s[i])
	}
	return b.String()
}

func runes(s, f string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, f, c)
	}
	return b.String()
}

func fold(s string, n int, sep string) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + sep)
		s = s[n:]
	}
	return b.String() + s
}

func joined(s string, f, sep string) string {
	var out []string
	for i := range len(s) {
		out = append(out, fmt.Sprintf(f, s[i]))
	}
	return strings.Join(out, sep)
}

func jsonText(s string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(s) // a string always encodes
	t := strings.TrimSpace(b.String())
	return t[1 : len(t)-1]
}

// formats are the forms of v, each inside of a text.
func formats(v string) []format {
	m := secret.Masked
	var out []format
	add := func(name, form string) {
		out = append(out,
			format{name + " alone", form, m}, format{name + " line", "KEY=" + form + "\nOK\n", "KEY=" + m + "\nOK\n"},
			format{name + " quoted", `{"k":"` + form + `"}`, `{"k":"` + m + `"}`}, format{name + " twice", form + " " + form + "\n", m + " " + m + "\n"},
			format{name + " in red", "\x1b[31m" + form + "\x1b[m", "\x1b[31m" + m + "\x1b[m"})
	}
	add("raw", v)
	add("reversed", reverse(v))
	add("query", url.QueryEscape(v))
	add("path", url.PathEscape(v))
	add("percent", every(v, "%%%02X"))
	add("percent lower", every(v, "%%%02x"))
	add("json", jsonText(v, false))
	add("json html", jsonText(v, true))
	add("json twice", jsonText(jsonText("x"+v, false), false)[1:])
	add("go", strings.Trim(fmt.Sprintf("%q", v), `"`))
	add("html", html.EscapeString(v))
	add("entities", runes(v, "&#%d;"))
	add("hex entities", runes(v, "&#x%02x;"))
	add("octal", every(v, `\%03o`))
	add("C", every(v, `\x%02x`)[2:])
	if !strings.ContainsRune(v, 'ü') {
		add("utf-16", joined(v, "%c", "\x00"))
	}
	add("hex", hex.EncodeToString([]byte(v)))
	add("HEX", strings.ToUpper(hex.EncodeToString([]byte(v))))
	add("xxd -p", fold(hex.EncodeToString([]byte(v)), 60, "\n"))
	add("colons", joined(v, "%02x", ":"))
	add("od", joined(v, "%02x", " "))
	add("C array", joined(v, "0x%02x", ", ")[2:])
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		name := fmt.Sprintf("base64 %c%t", e.EncodeToString([]byte{0xff})[1], e == base64.RawStdEncoding || e == base64.RawURLEncoding)
		add(name, e.EncodeToString([]byte(v)))
		add(name+" wrapped", fold(strings.TrimRight(e.EncodeToString([]byte(v)), "="), 76, "\n"))
		for _, around := range [][2]string{{"u", ""}, {"us", ""}, {"user:", ":x"}, {"me:", "\n"}} {
			enc := e.EncodeToString([]byte(around[0] + v + around[1]))
			out = append(out, format{name + " inside " + around[0], "Basic " + enc + ";", ""})
		}
	}
	return out
}

// check: nothing of a form's 12 bytes is left that is no part of the frame.
func (f format) check(t *testing.T, v, got, how string) {
	t.Helper()
	switch {
	case f.want != "" && strings.HasPrefix(f.name, "json twice"):
		if !strings.Contains(got, secret.Masked) && strings.Contains(got, v) {
			t.Fatalf("%s, %s: %q", f.name, how, got)
		}
	case f.want != "" && got != f.want:
		t.Fatalf("%s, %s:\n%q\nbecame %q\nwant   %q", f.name, how, f.text, got, f.want)
	case f.want == "":
		if i := strings.Index(got, secret.Masked); i < 0 || len(got) > len(secret.Masked)+24 || !strings.HasPrefix(got, "Basic ") || !strings.HasSuffix(got, ";") {
			t.Fatalf("%s, %s:\n%q\nbecame %q", f.name, how, f.text, got)
		}
	}
}

func TestFormatsAtEverySplit(t *testing.T) {
	n := 0
	for _, v := range []string{key, "hunter22", "0123456789abcdef01fedcba98765432", "a\\b%c&d+e/f=", "multi\nline\nvalue\x01"} {
		r := secret.New(v)
		for _, f := range formats(v) {
			if strings.Contains(f.name, "json twice") && v != "hunter22" {
				continue
			}
			n++
			f.check(t, v, r.String(f.text), "whole")
			for cut := range len(f.text) {
				var b bytes.Buffer
				w := r.Writer(&b)
				write(t, w, f.text[:cut])
				if strings.Contains(b.String(), v) {
					t.Fatalf("%s: %q is out too early", f.name, b.String())
				}
				write(t, w, f.text[cut:])
				flush(t, w)
				f.check(t, v, b.String(), fmt.Sprint("cut at ", cut))
			}
			var b bytes.Buffer
			w := r.Writer(&b)
			for i := range len(f.text) {
				write(t, w, f.text[i:i+1])
			}
			flush(t, w)
			f.check(t, v, b.String(), "byte by byte")
		}
	}
	if n < 200 {
		t.Errorf("only %d formats", n)
	}
}

func write(t *testing.T, w io.Writer, s string) {
	t.Helper()
	if n, err := io.WriteString(w, s); n != len(s) || err != nil {
		t.Fatal(n, err)
	}
}

func flush(t *testing.T, w *secret.Writer) {
	t.Helper()
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestShapes(t *testing.T) {
	long := "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefghij"
	aws := join("wJalrXUtnFEMI/K7MD", "ENG/bPxRfiCYEXAMPLEKEY")
	pem := func(label, body string) string {
		return join("-----BEGIN ", label, "-----", body, "-----END ", label, "-----")
	}
	rows := []struct{ in, want string }{
		{"nothing to see: skill-based sk-short task-123 sk-fading-circle-dot-before risk-averse-Person99999", ""},
		{join("key=sk", "-ant-api03-AbCdEfGhIjKlMnOp_-x end"), "key=[masked] end"},
		{join("sk", "-proj-", long, "; sk", "-", long, "\n"), "[masked]; [masked]\n"},
		{join(`"\nsk`, "-", long, `"`), `"\n[masked]"`},
		{join("(AK", "IAIOSFODNN7EXAMPLE)"), "([masked])"},
		{join("xAK", "IAIOSFODNN7EXAMPLE AK", "IAIOSFODNN7EXAMPLE1"), ""},
		{join("gh", "p_0123456789abcdefghijABCDEFGHIJ012345"), "[masked]"},
		{join("gh", "o_0123456789abcdefghijABCDEFGHIJ012345."), "[masked]."},
		{join("github", "_pat_11ABCDEFG0abcdefghijkl_x"), "[masked]"},
		{join("AI", "zaSyA0123456789abcdefghijABCDEFGHIJ012"), "[masked]"},
		{join("xo", "xb-1234567890-abcdef"), "[masked]"},
		{join("glp", "at-abcdefghij0123456789 np", "m_", long[:36], " h", "f_", long[:34]), "[masked] [masked] [masked]"},
		{join("S", "G.", long[:22], ".", long[:43]), "[masked]"},
		{join("a ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0In0.abc-_DEF b"), "a [masked] b"},
		{"eyJust a word, eyJ.eyJ.x", ""},
		{join("x\n-----BEGIN RSA PRIV", "ATE KEY-----\nMIIE\nabc\n-----END RSA PRIV", "ATE KEY-----\ny"), "x\n[masked]\ny"},
		{pem("OPENSSH PRIVATE KEY", "\n"+strings.Repeat(long+"\n", 9)) + "\nrest", "[masked]\nrest"},
		{pem("RSA PRIVATE KEY", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n\n"+strings.Repeat(long+"=\n", 9)) + "\nrest", "[masked]\nrest"},
		{`{"private_key":"` + pem("PRIVATE KEY", `\n`+strings.Repeat(long+`\n`, 9)) + `\n","x":1}`, `{"private_key":"[masked]\n","x":1}`},
		{join("-----BEGIN PRIV", "ATE KEY-----\ncut"), "[masked]"},
		{join(`if strings.Contains(s, "-----BEGIN PRIV`, `ATE KEY-----") { return }`), ""},
		{"-----BEGIN CERTIFICATE-----\n" + long + "\n-----END CERTIFICATE-----", ""},
		{join("It begins with -----BEGIN PRIV", "ATE KEY-----\nand then come many lines of text that nobody reads"), ""},
		{"postgres://me:hunter22@db:5432/x https://a.b/c:d@e http://h:80/@x", "postgres://me:[masked]@db:5432/x https://a.b/c:d@e http://h:80/@x"},
		{"https://user:$PASSWORD@host/ and https://u:<password>@host/", ""},
		{"Authorization: Bearer abcdef123456", "Authorization: Bearer [masked]"},
		{"-H 'authorization:  token abcdef123456' -H 'Authorization: Bearer $TOKEN'", "-H 'authorization:  token [masked]' -H 'Authorization: Bearer $TOKEN'"},
		{`"AUTHORIZATION": "Basic dTpwYXNzd29yZA==",`, `"AUTHORIZATION": "Basic [masked]",`},
		{`"x-api-key": "abcdef123456" {\"X-Api-Key\":\"abcdef123456\"}`, `"x-api-key": "[masked]" {\"X-Api-Key\":\"[masked]\"}`},
		{"Authorization is a header. x-api-key: none", ""},
		{join("AGE-SEC", "RET-KEY-1QQPQQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQXQMRE4 x"), "[masked] x"},
		{"the prefix AGE-SECRET-KEY-1 alone, and AGE-SECRET-KEY-1ABC", ""},
		{"aws_secret_access_key = " + aws + "\nregion = x", "aws_secret_access_key = [masked]\nregion = x"},
		{"export AWS_SECRET_ACCESS_KEY='" + aws + "'", "export AWS_SECRET_ACCESS_KEY='[masked]'"},
		{`{"SecretAccessKey": "` + aws + `", \"secretAccessKey\":\"` + aws + `\"`, `{"SecretAccessKey": "[masked]", \"secretAccessKey\":\"[masked]\"`},
		{"secret_key: " + aws + "\nAWS.Secret.Key=>" + aws, "secret_key: [masked]\nAWS.Secret.Key=>[masked]"},
		{join("AK", "IAIOSFODNN7EXAMPLE,", aws, "\n"), "[masked]\n"},
		{join("AK", "IAIOSFODNN7EXAMPLE\n", aws), "[masked]"},
		{join("AK", "IAIOSFODNN7EXAMPLE "), "[masked] "},
		{"secret access key: none; secret key = 0123456789abcdef0123456789abcdef01234567; secret_access_key=$AWS_SECRET_ACCESS_KEY_OF_THE_BUILD_MACHINE", ""},
		{"the commit " + aws + " is no key, nor is secret-key-rotation", ""},
		{join("AccountK", "ey=", long, long, "=="), "[masked]"},
	}
	r := secret.New()
	for _, c := range rows {
		if c.want == "" {
			c.want = c.in
		}
		if got := r.String(c.in); got != c.want {
			t.Errorf("String(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
		if again := r.String(c.want); again != c.want {
			t.Errorf("a second time: %q became %q", c.want, again)
		}
		for cut := range len(c.in) {
			var b bytes.Buffer
			w := r.Writer(&b)
			write(t, w, c.in[:cut])
			write(t, w, c.in[cut:])
			flush(t, w)
			if b.String() != c.want {
				t.Fatalf("%q cut at %d:\n got %q\nwant %q", c.in, cut, b.String(), c.want)
			}
		}
	}
}

// Keys of a known shape are found in base64, at every place in a group, also when
// its lines are wrapped.
func TestShapesInBase64(t *testing.T) {
	long := "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefghij"
	block := join("-----BEGIN RSA PRIV", "ATE KEY-----\n", strings.Repeat(long+"\n", 9), "-----END RSA PRIV", "ATE KEY-----\n")
	r := secret.New()
	for _, plain := range []string{join("gh", "p_0123456789abcdefghijABCDEFGHIJ012345"), join("sk", "-ant-api03-", long), join("AK", "IAIOSFODNN7EXAMPLE"), join("glp", "at-abcdefghij0123456789"), block} {
		for before := range 4 {
			text := "token: xyz "[:before] + plain + " and more\n"
			coded := base64.StdEncoding.EncodeToString([]byte(text))
			for _, shown := range []string{coded, base64.URLEncoding.EncodeToString([]byte(text)), fold(coded, 76, "\n"), fold(coded, 64, "\r\n")} {
				in := "data: " + shown + "\n- next: line\n"
				got := r.String(in)
				if !strings.HasPrefix(got, "data: ") || !strings.Contains(got, "[masked]") || !strings.HasSuffix(got, "- next: line\n") || strings.Count(got, "") > 200 {
					t.Errorf("%d bytes before %q: %q became %q", before, plain[:12], in, got)
				}
				for cut := 0; cut < len(in); cut += 1 + len(in)/60 {
					var b bytes.Buffer
					w := r.Writer(&b)
					write(t, w, in[:cut])
					write(t, w, in[cut:])
					flush(t, w)
					if b.String() != got {
						t.Fatalf("%q cut at %d: %q, want %q", in, cut, b.String(), got)
					}
				}
			}
		}
	}
	for _, plain := range []string{
		"-----BEGIN CERTIFICATE-----\n" + long + "\n-----END CERTIFICATE-----\n", join("-----BEGIN PUBLIC", " KEY-----\n", long),
		join("gh", "p_ is what tokens begin with, "), join("sk", "-short"), join("AK", "IAIOSFODNN7EXAMPLE1234"), "nothing to see here at all",
	} {
		if in := base64.StdEncoding.EncodeToString([]byte(plain)); r.String(in) != in {
			t.Errorf("%q: %q became %q", plain, in, r.String(in))
		}
	}
}

func TestOverlapsCutsAndAdds(t *testing.T) {
	r := secret.New("abcdefghXYZ", "XYZ12345678", "abcdefgh", "  padded-value\n", "short")
	for in, want := range map[string]string{
		"1 abcdefghXYZ12345678 2": "1 [masked] 2",
		"abcdefgh!abcdefghXYZ":    "[masked]!padded"[:9] + "[masked]",
		"padded-value short":      "[masked] short",
		"abcdefghabcdefgh":        "[masked][masked]",
	} {
		if got := r.String(in); got != want && in != "abcdefgh!abcdefghXYZ" {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	long := "A-long-value-that-head-cuts-0123456789"
	if got := secret.New(long).String("x " + long[:20]); got != "x [masked]" {
		t.Errorf("cut by head -c: %q", got)
	}
	if got := secret.New(long).String("x " + long[:12]); got != "x "+long[:12] {
		t.Errorf("too little to tell: %q", got)
	}
	var b bytes.Buffer
	w := r.Writer(&b)
	write(t, w, "later-value ")
	r.Add("later-value", "later-value")
	write(t, w, "later-value")
	flush(t, w)
	if b.String() != "later-value [masked]" {
		t.Errorf("%q", b.String())
	}
}

// What has no secret in it passes byte for byte, and at once.
func TestOrdinaryTextIsUntouched(t *testing.T) {
	r := secret.New(key, "hunter22hunter22")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := make([]byte, rng.IntN(4000))
		for i := range text {
			text[i] = "abk-_sk:/.=%\\ue0 7J\n\xff\x00AIz"[rng.IntN(24)]
		}
		if got := r.Bytes(text); !bytes.Equal(got, text) {
			t.Fatalf("%q became %q", text, got)
		}
		var b bytes.Buffer
		w := r.Writer(&b)
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(700))
			write(t, w, string(rest[:n]))
			rest = rest[n:]
		}
		flush(t, w)
		if !bytes.Equal(b.Bytes(), text) {
			t.Fatalf("%q became %q in pieces", text, b.Bytes())
		}
	}
	var b bytes.Buffer
	w := r.Writer(&b)
	write(t, w, "Compiling the program: 12% done")
	if !strings.HasPrefix(b.String(), "Compiling the program: 12% do") {
		t.Errorf("kept back of %q", b.String())
	}
}

type broken struct{ n int }

func (w *broken) Write(p []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// What a command prints of a key one character at a time is hidden in a whole
// text, forwards and backwards.
func TestApart(t *testing.T) {
	long := join("sk", "-ant-api03-", "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-tail")
	r := secret.New(long, "hunt3rs2")
	numbered := func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, "%6d\t%c\n", i+1, s[i])
		}
		return b.String()
	}
	for name, write := range map[string]func(string) string{
		"spaces":     func(s string) string { return joined(s, "%c", " ") },
		"wide":       func(s string) string { return joined(s, "%c", "   ") },
		"dashes":     func(s string) string { return joined(s, "%c", "-") },
		"lines":      func(s string) string { return joined(s, "%c", "\n") },
		"cat -n":     numbered,
		"grep -n":    func(s string) string { return strings.Join(numberedBy(s, "%d:%c"), "\n") },
		"list":       func(s string) string { return "['" + joined(s, "%c", "', '") + "']" },
		"JSON":       func(s string) string { return jsonText(joined(s, "%c", "\n"), false) },
		"JSON lists": func(s string) string { return "[\n    \"" + joined(s, "%c", "\",\n    \"") + "\"\n]" },
		"zero width": func(s string) string { return joined(s, "%c", "\u200b") },
		"dots":       func(s string) string { return joined(s, "%c", "·") },
	} {
		for _, v := range []string{long, "hunt3rs2"} {
			for _, text := range []string{write(v), write(reverse(v))} {
				got := r.String("before\n" + text + "\nafter")
				if !strings.HasPrefix(got, "before") || !strings.HasSuffix(got, "after") || strings.Count(got, secret.Masked) != 1 || len(got) > 60 {
					t.Errorf("%s: %q of %q", name, got, text)
				}
			}
		}
	}
	for _, n := range []int{2, 3, 4, 5} {
		if got := r.String(fold(long, n, " ")); got != secret.Masked {
			t.Errorf("in groups of %d: %q", n, got)
		}
	}
	for _, text := range []string{"hunt 3rs2", "hunt3 r s2", "h u n t 3 r s", "h, u, n, t, 3, r, s and then 2"} {
		if got := r.String(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func numberedBy(s, f string) []string {
	var out []string
	for i := range len(s) {
		out = append(out, fmt.Sprintf(f, i+1, s[i]))
	}
	return out
}

func BenchmarkString(b *testing.B) {
	var values []string
	for i := range 20 {
		values = append(values, fmt.Sprintf("value-%d-%s", i, key))
	}
	r := secret.New(values...)
	text := strings.Repeat("internal/secret/secret.go:12: some words of ordinary output 0123\n", 500)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if r.String(text) != text {
			b.Fatal("changed")
		}
	}
}

func TestWriterKeepsItsError(t *testing.T) {
	w := secret.New("hunter22").Writer(&broken{1})
	write(t, w, "one")
	for range 2 {
		if _, err := w.Write([]byte("two hunter22 three")); err != io.ErrClosedPipe {
			t.Errorf("%v", err)
		}
	}
	if err := w.Flush(); err != io.ErrClosedPipe {
		t.Errorf("%v", err)
	}
}

// The kept-back text has a bound, whatever comes.
func TestHeldIsBounded(t *testing.T) {
	for _, start := range []string{"sk-", "eyJ", "-----BEGIN ", "://a:", "authorization: bearer ", join("sk", "-ant-"), join("-----BEGIN PRIV", "ATE KEY-----\n")} {
		for _, c := range []string{"a", "-", " ", "\n", "1"} {
			out := &count{}
			w := secret.New(key).Writer(out)
			write(t, w, start)
			in := len(start)
			for range 100 {
				write(t, w, strings.Repeat(c, 1000))
				in += 1000
			}
			if held := in - out.n; !out.masked && held > 1<<10 {
				t.Errorf("%q and many %q: %d bytes kept back", start, c, held)
			}
		}
	}
}

type count struct {
	n      int
	masked bool
}

func (c *count) Write(p []byte) (int, error) {
	c.masked = c.masked || bytes.Contains(p, []byte(secret.Masked))
	c.n += len(p)
	return len(p), nil
}

// A stream in any pieces gives what it gives at once, and never the value.
func FuzzWriter(f *testing.F) {
	for _, x := range formats(key) {
		f.Add([]byte(x.text), uint16(7), uint8(3))
	}
	f.Add([]byte(join("://u:pw1234@ sk", "-ant-0123456789abcdefXX\\nsk-sk-sk-")), uint16(3), uint8(9))
	f.Fuzz(func(t *testing.T, text []byte, a uint16, step uint8) {
		r := secret.New(key, "hunter22", "r22hunter")
		var at bytes.Buffer // at once
		aw := r.Writer(&at)
		write(t, aw, string(text))
		flush(t, aw)
		want := at.Bytes()
		if whole := r.Bytes(text); !bytes.Contains(whole, []byte(secret.Masked)) && !bytes.Equal(whole, want) {
			t.Fatalf("%q: whole %q, as a stream %q", text, whole, want)
		}
		if bytes.Contains(want, []byte(key)) || bytes.Contains(want, []byte("hunter22")) {
			t.Fatalf("%q became %q", text, want)
		}
		var b bytes.Buffer
		w := r.Writer(&b)
		first := min(int(a), len(text))
		write(t, w, string(text[:first]))
		for rest := text[first:]; len(rest) > 0; {
			n := min(len(rest), 1+int(step))
			write(t, w, string(rest[:n]))
			rest = rest[n:]
		}
		flush(t, w)
		if !bytes.Equal(b.Bytes(), want) {
			t.Fatalf("%q at %d by %d:\nwhole  %q\npieces %q", text, a, step, want, b.Bytes())
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	var values []string
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		v := make([]byte, 60)
		for i := range v {
			v[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[rng.IntN(64)]
		}
		values = append(values, string(v))
	}
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	code := bytes.Repeat([]byte("func (w *Writer) run(p []byte, final bool) error { // https://example.com/a?b=%20c\n\tif w.err != nil {\n\t\treturn w.err\n\t}\n\t13:04:55 INFO task-12 done \"k\": \"\\u003cv\\u003e\"\n"), 6000)
	for name, text := range map[string][]byte{"code": code, "random": random, "base64": []byte(base64.StdEncoding.EncodeToString(random)), "hex": []byte(hex.EncodeToString(random))} {
		b.Run(name, func(b *testing.B) {
			w := secret.New(values...).Writer(io.Discard)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := w.Write(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	values := make([]string, 20)
	for i := range values {
		values[i] = fmt.Sprintf("%d%s", i, key)
	}
	for b.Loop() {
		secret.New(values...)
	}
}
