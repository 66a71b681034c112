package syntax

import (
	"strings"
	"testing"
)

const letters = ".KTFSN#o$CtaE+-"

// shape writes src with the letter of its kind for each byte that is no space.
func shape(lang, src string) string {
	var b strings.Builder
	at := 0
	for _, tok := range Tokens(lang, src) {
		for ; at < tok.End; at++ {
			if c := src[at]; c == ' ' || c == '\n' || c == '\t' {
				b.WriteByte(c)
			} else {
				b.WriteByte(letters[tok.Kind])
			}
		}
	}
	return b.String()
}

func TestKinds(t *testing.T) {
	for _, c := range []struct{ lang, src, want string }{
		{"go", "func f(a int) string { return \"x\\n\" } // end", "KKKK F.. TTT. TTTTTT . KKKKKK SSEES . ## ###"},
		{"main.go", "x := 'a' + 0x1F", ". oo SSS o NNNN"},
		{"python", "def f(x): # c\n  return f'{x}' \"\"\"a\nb\"\"\"", "KKK F...o # #\n  KKKKKK SSSSSS SSSS\nSSSS"},
		{"js", "const a = b / c; x = /a\\/b/g; `t\n${x}`", "KKKKK . o . o .. . o SSSSSSS. SS\nSSSSS"},
		{"ts", "let x: string = 1", "KKK .o TTTTTT o N"},
		{"rust", "fn f<'a>(c: &'a str) { println!(\"x\", 'y') }", "KK .o$$o..o o$$ TTT. . FFFFFFFF.SSS. SSS. ."},
		{"json", `{"a": "b", "c": [1, true]}`, `.aaao SSS. aaao .N. CCCC..`},
		{"yaml", "a-b: c # d\n- e: 'f'\n  g: true", "aaao . # #\no ao SSS\n  ao CCCC"},
		{"toml", "[a.b]\nc = \"d\" # e", "ttttt\na o SSS # #"},
		{"bash", "if [ -f $x ]; then echo \"a$b\"; fi # c", "KK . aa $$ .. KKKK FFFF SSSSS. KK # #"},
		{"sh", "cat <<EOF\na b\nEOF\nls -la", "FFF ooSSS\nS S\nSSS\nFF aaa"},
		{"html", "<a href=\"x\">t &amp; <!-- c --></a>", "tt aaaaoSSSt. EEEEE #### # ###tttt"},
		{"html", "<script>let a</script>", "ttttttttKKK .ttttttttt"},
		{"css", "a.b { color: #fff; margin: f(1px) }", "ttt . aaaaao NNNN. aaaaaao F.NNN. ."},
		{"sql", "SELECT a FROM b WHERE c = 'it''s' -- d", "KKKKKK . KKKK . KKKKK . o SSSSSSS ## #"},
		{"diff", "@@ -1 +1 @@\n-a\n+b\n c", "FF FF FF FF\n--\n++\n ."},
		{"makefile", "all: a.o\n\tcc $(X) # c\nX := 1", "FFFo ...\n\t.. $$$$ # #\n$ oo N"},
		{"dockerfile", "FROM a:1\n# c\nRUN x", "KKKK .oN\n# #\nKKK ."},
		{"c", "#include <a.h>\nint x; /* c\nd */", "KKKKKKKK o...o\nTTT .. ## #\n# ##"},
		{"lua", "local x = nil --[[ a\nb ]] y", "KKKKK . o CCC #### #\n# ## ."},
	} {
		if got := shape(c.lang, c.src); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.lang, c.src, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, n := range []string{"Go", "a/b.go", `C:\x\y.PY`, "Makefile", "Dockerfile", "go title=x", "c++", "CMakeLists.txt", "x.test.tsx"} {
		if find(n) == nil {
			t.Errorf("%s is not known", n)
		}
	}
	for _, n := range []string{"", ".", "none", "x.", "/"} {
		if find(n) != nil {
			t.Errorf("%q is known", n)
		}
	}
	seen := map[string]string{}
	for _, l := range languages() {
		for n := range strings.FieldsSeq(l.names) {
			if seen[n] != "" {
				t.Errorf("%s is of %s and of %s", n, seen[n], l.names)
			}
			seen[n] = l.names
		}
	}
}

func FuzzTokens(f *testing.F) {
	for i, n := range names() {
		f.Add(i, "a "+n+" \"x\\\" '<<EOF\n$( ${ /* <a b=\" `{- r#\" @x #y")
	}
	f.Fuzz(func(t *testing.T, i int, src string) {
		all := names()
		n := all[((i%len(all))+len(all))%len(all)]
		at := 0
		for _, tok := range Tokens(n, src) {
			if tok.End <= at || tok.End > len(src) {
				t.Fatalf("%s: a token ends at %d after %d of %d", n, tok.End, at, len(src))
			}
			at = tok.End
		}
		if at != len(src) {
			t.Fatalf("%s: %d of %d bytes were read", n, at, len(src))
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	src := strings.Repeat("func main() {\n\tx := map[string]int{\"a\": 1} // say\n\treturn x[\"a\"] + 0x1F\n}\n", 1200)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Tokens("go", src)
	}
}

// names lists the languages.
func names() []string {
	var out []string
	for _, l := range languages() {
		out = append(out, strings.Fields(l.names)[0])
	}
	return out
}
