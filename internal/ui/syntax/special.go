package syntax

import "strings"

// jsonKey tells a key of JSON from a string.
func jsonKey(s *scanner) bool {
	if s.src[s.pos] != '"' {
		return false
	}
	i := s.pos + 1
	for i < len(s.src) && s.src[i] != '"' && s.src[i] != '\n' {
		if s.src[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(s.src) || s.src[i] != '"' {
		return false
	}
	for j := i + 1; j < len(s.src); j++ {
		switch s.src[j] {
		case ' ', '\t':
			continue
		case ':':
			s.emit(Attribute, i+1)
			return true
		}
		break
	}
	return false
}

// yamlKey reads the key that a line, or an item of a list, begins with.
func yamlKey(s *scanner) bool {
	c := s.src[s.pos]
	if (c == '&' || c == '*' || c == '!') && s.pos+1 < len(s.src) && s.letter(s.src[s.pos+1]) {
		s.emit(Variable, s.wordEnd(s.pos+1))
		return true
	}
	if strings.HasPrefix(s.rest(), "---") && s.lineStart() {
		s.emit(Keyword, s.pos+3)
		return true
	}
	line := s.src[s.pos:s.lineEnd(s.pos)]
	if c == '#' || c == '-' && len(line) > 1 && line[1] == ' ' {
		return false
	}
	start := strings.TrimLeft(s.src[strings.LastIndexByte(s.src[:s.pos], '\n')+1:s.pos], " -")
	if start == "" {
		if i := strings.Index(line, ": "); i > 0 && !strings.ContainsAny(line[:i], "{[#") {
			s.emit(Attribute, s.pos+i)
			return true
		}
		if i := len(line) - 1; i > 0 && line[i] == ':' && !strings.ContainsAny(line[:i], "{[#") {
			s.emit(Attribute, s.pos+i)
			return true
		}
	}
	if c == '\'' || c == '"' || !s.letter(c) {
		return false
	}
	end := len(line) // a plain value: to a comment, a comma in brackets, or the line's end
	if i := strings.Index(line, " #"); i >= 0 {
		end = i
	}
	w := strings.TrimRight(line[:end], " ,]}")
	if _, ok := s.words[strings.ToLower(w)]; ok {
		return false
	}
	if i := strings.IndexAny(w, ",]}:"); i > 0 {
		w = w[:i]
	}
	s.emit(Plain, s.pos+len(w))
	return true
}

// iniKey reads sections and keys of INI and TOML.
func iniKey(s *scanner) bool {
	if !s.lineStart() {
		return false
	}
	line := s.src[s.pos:s.lineEnd(s.pos)]
	if line[0] == '[' {
		if i := strings.LastIndexByte(line, ']'); i > 0 {
			s.emit(Tag, s.pos+i+1)
			return true
		}
		return false
	}
	if strings.IndexByte("#;", line[0]) >= 0 {
		return false
	}
	if i := strings.IndexAny(line, "=:"); i > 0 && strings.IndexByte(line[:i], '#') < 0 {
		s.emit(Attribute, s.pos+len(strings.TrimRight(line[:i], " \t")))
		return true
	}
	return false
}

const inTag = 1

// markup reads tags, attributes and entities, and the scripts and styles that
// stand between two tags.
func markup(s *scanner) bool {
	r := s.rest()
	c := r[0]
	if s.state == inTag {
		switch {
		case c == '>' || strings.HasPrefix(r, "/>") || strings.HasPrefix(r, "?>"):
			s.emit(Tag, s.pos+strings.IndexByte(r, '>')+1)
			s.state = 0
			s.within()
		case c == '"' || c == '\'':
			s.text(quote{open: r[:1], end: r[:1], lines: true})
		case s.letter(c) || c == ':' || c == '@':
			s.emit(Attribute, max(s.wordEnd(s.pos), s.pos+1))
		default:
			s.emit(Operator, s.pos+1)
		}
		return true
	}
	switch {
	case strings.HasPrefix(r, "<!--"):
		s.emit(Comment, s.blockEnd("<!--", "-->"))
	case strings.HasPrefix(r, "<![CDATA["):
		s.emit(String, s.blockEnd("<![CDATA[", "]]>"))
	case c == '<' && len(r) > 1 && (s.letter(r[1]) || strings.IndexByte("/!?", r[1]) >= 0):
		s.emit(Tag, s.wordEnd(s.pos+2))
		s.state = inTag
	case c == '&':
		i := strings.IndexByte(r[:min(len(r), 12)], ';')
		if i < 2 {
			return false
		}
		s.emit(Escape, s.pos+i+1)
	default:
		i := strings.IndexAny(r[1:], "<&\n")
		if i < 0 {
			i = len(r) - 1
		}
		s.emit(Plain, s.pos+1+i)
	}
	return true
}

// within reads the script or the style that a tag, just closed, began.
func (s *scanner) within() {
	head := s.src[strings.LastIndexByte(s.src[:s.pos], '<'):s.pos]
	for _, in := range [...][2]string{{"script", "javascript"}, {"style", "css"}} {
		if len(head) < len(in[0])+2 || !strings.EqualFold(head[1:len(in[0])+1], in[0]) || strings.HasSuffix(head, "/>") {
			continue
		}
		end := strings.Index(strings.ToLower(s.rest()), "</"+in[0])
		if end < 0 {
			end = len(s.rest())
		}
		base := s.pos
		for _, t := range s.other(in[1], s.src[base:base+end]) {
			s.emit(t.Kind, base+t.End)
		}
		return
	}
}

// style reads selectors, properties and colours.
func style(s *scanner) bool {
	r := s.rest()
	switch c := r[0]; {
	case c == '#' && len(r) > 1:
		end := s.wordEnd(s.pos + 1)
		k := Tag
		if s.depth > 0 && strings.Trim(s.src[s.pos+1:end], "0123456789abcdefABCDEF") == "" {
			k = Number
		}
		s.emit(k, end)
		return true
	case c == '@' && len(r) > 1 && s.letter(r[1]):
		s.emit(Keyword, s.wordEnd(s.pos+1))
		return true
	case c == '.' && len(r) > 1 && s.letter(r[1]):
		s.emit(Tag, s.wordEnd(s.pos+1))
		return true
	case s.letter(c) || c == '-' && len(r) > 1 && (s.letter(r[1]) || r[1] == '-'):
		end := s.wordEnd(s.pos + 1)
		k := Plain
		switch after := strings.TrimLeft(s.src[end:min(len(s.src), end+4)], " "); {
		case strings.HasPrefix(after, "("):
			k = Function
		case s.depth > 0 && strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "::"):
			k = Attribute
		case s.depth == 0:
			k = Tag
		}
		s.emit(k, end)
		return true
	}
	return false
}

// patch reads a diff by the first character of each line.
func patch(s *scanner) bool {
	line := s.src[s.pos:s.lineEnd(s.pos)]
	k := Plain
	switch {
	case s.pos > 0 && s.src[s.pos-1] != '\n':
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		k = Keyword
	case strings.HasPrefix(line, "@@"):
		k = Function
	case line[0] == '+':
		k = Inserted
	case line[0] == '-':
		k = Deleted
	}
	s.emit(k, s.lineEnd(s.pos))
	return true
}

// prose reads Markdown by its lines.
func prose(s *scanner) bool {
	r := s.rest()
	line := s.src[s.pos:s.lineEnd(s.pos)]
	if s.lineStart() {
		switch {
		case line[0] == '#':
			s.emit(Keyword, s.pos+len(line))
			return true
		case line[0] == '>':
			s.emit(Comment, s.pos+len(line))
			return true
		case strings.HasPrefix(line, "```"):
			s.emit(String, s.pos+len(line))
			if i := strings.Index(s.rest(), "\n```"); i >= 0 {
				s.emit(String, s.pos+i+4)
			}
			return true
		case strings.IndexByte("-*+", line[0]) >= 0 && len(line) > 1 && line[1] == ' ':
			s.emit(Operator, s.pos+1)
			return true
		}
	}
	if r[0] == '`' {
		if i := strings.IndexByte(line[1:], '`'); i >= 0 {
			s.emit(String, s.pos+i+2)
			return true
		}
	}
	i := strings.IndexAny(r[1:], "`\n")
	if i < 0 {
		i = len(r) - 1
	}
	s.emit(Plain, s.pos+1+i)
	return true
}

// rule reads the targets and variables of a makefile.
func rule(s *scanner) bool {
	if s.src[s.pos] == '$' && s.pos+1 < len(s.src) && s.src[s.pos+1] == '(' {
		if i := strings.IndexAny(s.rest(), ")\n"); i > 0 && s.src[s.pos+i] == ')' {
			s.emit(Variable, s.pos+i+1)
			return true
		}
	}
	if s.pos > 0 && s.src[s.pos-1] != '\n' {
		return false
	}
	line := s.src[s.pos:s.lineEnd(s.pos)]
	i := strings.IndexAny(line, ":=")
	if i <= 0 || strings.IndexByte(line[:i], '#') >= 0 {
		return false
	}
	k := Function
	if line[i] == '=' || strings.HasPrefix(line[i:], ":=") || strings.HasPrefix(line[i:], "::=") {
		k = Variable
	}
	if w, _, _ := strings.Cut(line, " "); s.words[w] == Keyword {
		return false
	}
	s.emit(k, s.pos+i)
	return true
}

// instruction reads the word that a line of a Dockerfile begins with.
func instruction(s *scanner) bool {
	if !s.lineStart() || !s.letter(s.src[s.pos]) {
		return false
	}
	end := s.wordEnd(s.pos)
	if w := s.src[s.pos:end]; strings.ToUpper(w) != w {
		return false
	}
	s.emit(Keyword, end)
	return true
}

// command reads the word that a command of a shell begins with.
func command(s *scanner) bool {
	c := s.src[s.pos]
	if !s.letter(c) && c != '-' {
		return false
	}
	if c == '-' {
		if s.pos > 0 && strings.IndexByte(" \t\n", s.src[s.pos-1]) >= 0 && s.pos+1 < len(s.src) && (s.letter(s.src[s.pos+1]) || s.src[s.pos+1] == '-') {
			end := s.pos
			for end < len(s.src) && strings.IndexByte(" \t\n=;|&)", s.src[end]) < 0 {
				end++
			}
			s.emit(Attribute, end)
			return true
		}
		return false
	}
	end := s.wordEnd(s.pos)
	if end < len(s.src) && s.src[end] == '=' {
		s.emit(Variable, end)
		return true
	}
	before := strings.TrimRight(s.src[max(0, s.pos-64):s.pos], " \t")
	first := before == "" || strings.IndexByte("\n;|&({`", before[len(before)-1]) >= 0
	if last := before[strings.LastIndexAny(before, " \t\n;")+1:]; s.words[last] == Keyword && last != "for" && last != "in" && last != "case" {
		first = true
	}
	if _, ok := s.words[s.src[s.pos:end]]; !ok && first {
		for end < len(s.src) && strings.IndexByte("-./:+", s.src[end]) >= 0 {
			end = s.wordEnd(end + 1)
		}
		s.emit(Function, end)
		return true
	}
	return false
}
