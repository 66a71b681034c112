package hint

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shell writes words so that a shell takes each as it is, and a terminal too:
// every command that a person is told to run and that holds a name is made with
// it. "…" and the words of a usage line in capitals stay as they are.
func Shell(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellWord(w)
	}
	return strings.Join(out, " ")
}

// plain are the characters that mean nothing to a shell, besides letters and digits.
const plain = "_@%+:,./-…"

func shellWord(w string) string {
	harmless, shown := w != "", utf8.ValidString(w)
	for i, r := range w {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(plain, r) || r == '=' && i > 0
		harmless = harmless && letter
		shown = shown && (unicode.IsGraphic(r) && (r == ' ' || !unicode.IsSpace(r)))
	}
	switch {
	case harmless && shown:
		return w
	case shown:
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	var b strings.Builder // bash and zsh read this, and nothing in it moves a cursor
	for i := 0; i < len(w); {
		r, n := utf8.DecodeRuneInString(w[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == utf8.RuneError && n <= 1, !unicode.IsGraphic(r), unicode.IsSpace(r) && r != ' ':
			for _, c := range []byte(w[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return "$'" + b.String() + "'"
}
