package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// where says of each context when its keys hold.
var where = map[Context]string{
	Global:        "everywhere, asked last",
	Chat:          "the prompt box",
	Edit:          "any text field; the prompt box, too",
	Autocomplete:  "the lists that @ and / open",
	Confirmation:  "a question with yes and no",
	Select:        "a menu",
	Transcript:    "the conversation in full screen",
	HistorySearch: "the search of prompts",
	Task:          "a command runs",
	Help:          "the help",
}

// Template is a keybindings.json that changes nothing: each action of each
// context with its first default key, as a comment to take the mark from.
func Template(t Terminal) string {
	var b strings.Builder
	b.WriteString("// Your keys. Each line that is a comment has what holds already: take the // away and\n" +
		"// change the key. A key with null instead of an action does nothing.\n{\n  \"bindings\": [\n")
	rows := Default(t).Help()
	for _, c := range contexts() {
		in := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return string(r.Context) != c || t.absent(r.Action) })
		if len(in) == 0 {
			continue
		}
		fmt.Fprintf(&b, "    // %s\n    {\"context\": %q, \"bindings\": {\n", where[Context(c)], c)
		for _, r := range in {
			key := "KEY"
			if list := Default(t).order[r.Action]; len(list) > 0 && refused(r.Context, list[0].Keys) == "" {
				key = Name(list[0].Keys)
			}
			fmt.Fprintf(&b, "      // %q: %q, // %s\n", key, r.Action, r.What)
		}
		b.WriteString("    }},\n")
	}
	b.WriteString("  ],\n}\n")
	return b.String()
}
