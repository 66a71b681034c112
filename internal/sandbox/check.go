package sandbox

// A Try is one attempt to get out of the sandbox, and what became of it.
type Try struct {
	Name   string `json:"name"`
	What   string `json:"what"` // in plain words
	Result Result `json:"result"`
	Detail string `json:"detail,omitempty"` // the error it met, or what it reached
}

// Result is how a try ended.
type Result string

// The results. Known is a success that the level says is possible.
const (
	Blocked Result = "blocked"
	Escaped Result = "escaped"
	Known   Result = "known weakness"
	Skipped Result = "skipped"
)
