package programs

import (
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// psqlDoes, mysqlDoes and sqliteDoes find what clients of databases do besides queries: they
// start programs, write files, or take what they are told from elsewhere.
var (
	psqlDoes   = pattern.Lazy(`(?i)\\!|\\(?:e|edit|ef|ev|setenv)\b|\\(?:o|out|w|write|g|gx|copy|i|ir|include)\s[^\n]*(?:\||\bprogram\b|\.\./|\s['"]?[/~])|\b(?:from|to)\s+program\b|\\set\s[^\n]*\x60`)
	mysqlDoes  = pattern.Lazy(`(?im)\\[!PTe]|^\s*(?:system|pager|tee|edit|source)\b|\bload\s+data\s+local\b`)
	sqliteDoes = pattern.Lazy(`(?i)\b(?:load_extension|writefile|edit|fts3_tokenizer)\s*\(`)
)

// sqliteStarts are commands of sqlite3 that start programs, load code or change where it works,
// and sqliteAsks those that only begin like one of them. It takes each by its first letters.
var (
	sqliteStarts = strings.Fields("archive cd edit excel load shell system www")
	sqliteAsks   = strings.Fields("show stats schema separator scanstats sha3sum explain echo exit eqp lint limits log changes clone")
)

// clientDoes says why what the client of a database is told is more than queries, which is all
// that a rule for it means; "" when it is not.
func clientDoes(name, text string) string {
	found := ""
	switch name {
	case "psql":
		found = psqlDoes().FindString(text)
	case "mysql", "mariadb":
		found = mysqlDoes().FindString(text)
	case "sqlite3":
		found = sqliteDoes().FindString(text)
		for line := range strings.Lines(text) {
			words := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t\r\n'\"", c) })
			if len(words) == 0 || len(words[0]) < 2 || words[0][0] != '.' || strings.Trim(words[0][1:], "abcdefghijklmnopqrstuvwxyz3") != "" {
				continue
			}
			starts := begun(sqliteStarts, words[0][1:]) && !begun(sqliteAsks, words[0][1:])
			for _, w := range words[1:] {
				starts = starts || strings.HasPrefix(w, "|") || leadsOut(w)
			}
			if starts {
				found = strings.TrimSpace(line)
			}
		}
	}
	if found = strings.TrimSpace(found); found == "" {
		return ""
	}
	return name + " is told to do more than a rule for it speaks of: " + Clip(found)
}

// begun reports a word with which one of some others begins.
func begun(all []string, word string) bool {
	for _, w := range all {
		if strings.HasPrefix(w, word) {
			return true
		}
	}
	return false
}

// Told says why what the client of a database reads, from its input and from files that its
// words or a redirect name, is more than queries. said is what prints the input, as a shell
// has it.
func (u *Invocation) Told(ws []Word, text, said string, file Word) string {
	if !u.is(queries) {
		return ""
	}
	if why := clientDoes(u.name, text+"\n"+strings.NewReplacer("'", "\n", `"`, "\n", `\n`, "\n", `\\`, `\`).Replace(said)); why != "" {
		return why
	}
	files := []Word{file}
	for i, w := range ws {
		val, long := strings.CutPrefix(w.Text, "--file=")
		switch {
		case long:
			files = append(files, Lit(val))
		case i+1 < len(ws) && (w.Is("-f") || w.Is("--file")):
			files = append(files, ws[i+1])
		}
	}
	for _, f := range files {
		if f.Kind != Exact || f.Text == "" || f.Text == "-" || u.r.World.Text == nil {
			continue
		}
		for _, at := range u.resolved(f, u.dirs) {
			text, ok := u.r.World.Text(at)
			if u.r.wrote(at) {
				return "which statements " + u.name + " reads is not known: the same call writes " + f.Source
			}
			if why := clientDoes(u.name, text); ok && why != "" {
				return why
			}
		}
	}
	return ""
}

// wrote reports a file that a command before writes.
func (r *Recorder) wrote(file string) bool {
	for _, p := range r.Wrote {
		if strings.EqualFold(p, file) {
			return true
		}
	}
	return false
}
