package ask

// Facts are a session as it is now: the Data of Status.
type Facts struct {
	ID      string `json:"id"`
	Dir     string `json:"dir"` // where it works, absolute
	Model   string `json:"model"`
	Effort  string `json:"effort,omitempty"` // how hard the model thinks, "" when nobody said
	Mode    string `json:"mode"`
	Window  int    `json:"window,omitzero"` // of the model in tokens, 0 when unknown
	Room    int    `json:"room,omitzero"`   // what of it a conversation may fill
	Kept    bool   `json:"kept,omitzero"`   // it can be resumed
	Version string `json:"version"`         // of adze
}

// A SessionList is the sessions that can be gone on with: the Data of Sessions.
type SessionList struct {
	List   []Saved `json:"list"`
	Branch string  `json:"branch,omitempty"` // the one that is checked out here
}

// A Saved is a session that can be gone on with.
type Saved struct {
	Choice
	Title  string `json:"title,omitempty"` // as it can be changed; Name may be its first prompt
	Branch string `json:"branch,omitempty"`
	Parent string `json:"parent,omitempty"` // the session it was forked from
	// Elsewhere is the command that goes on with it, when it works in another
	// project; "" when it opens here.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Holder says who has it open, "" where nobody has.
	Holder string `json:"holder,omitempty"`
}

// A RuleSet is what permissions rest on now: the Data of Rules.
type RuleSet struct {
	List []Rule   `json:"list"`
	Dirs []string `json:"dirs"`
	Mode string   `json:"mode"`
}

// A Rule is a permission rule and where it stands.
type Rule struct {
	Effect string `json:"effect"` // allow, ask, deny
	Text   string `json:"text"`   // "Bash(go test *)"
	Scope  string `json:"scope"`
	Source string `json:"source"` // "file:line", "--allowed-tools", …
}

// Claims are what a folder brings that could run or steer, when nobody has decided
// about it yet: the Data of Trust.
type Claims struct {
	Folder string   `json:"folder"`
	List   []string `json:"list,omitempty"` // what it brings, one a line
	// Changed is a diff of what was trusted and what there is now, "" where it
	// was not trusted before.
	Changed string `json:"changed,omitempty"`
	// Waiting are MCP servers of the person's that wait for a folder to be trusted which
	// brings nothing; each with what becomes of it until then.
	Waiting []string `json:"waiting,omitempty"`
	// Refused says why it cannot be trusted at all, "" when it can.
	Refused string `json:"refused,omitempty"`
	// Once: a no is not remembered.
	Once bool `json:"once,omitzero"`
}
