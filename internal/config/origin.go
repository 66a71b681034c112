package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A Scope is a layer of settings.
type Scope string

// Scopes, from the weakest. Env and Flag are one layer; a flag wins.
const (
	Default  Scope = "default"
	User     Scope = "user"
	Project  Scope = "project"
	Local    Scope = "local"
	Settings Scope = "settings" // --settings
	EnvVar   Scope = "env"
	Flag     Scope = "flag"
	Managed  Scope = "managed"
)

// Repo reports whether the scope's files come with a repository, so that
// somebody else may have written them.
func (s Scope) Repo() bool { return s == Project || s == Local }

// Policy names the scope as verdicts do.
func (s Scope) Policy() policy.Scope {
	switch s {
	case Managed:
		return policy.Managed
	case Project:
		return policy.Project
	case Local:
		return policy.Local
	case User:
		return policy.User
	case Default, Settings, EnvVar, Flag:
	}
	return policy.CLI
}

// An Origin is where a value stands.
type Origin struct {
	Scope  Scope  `json:"scope"`
	File   string `json:"file,omitempty"` // "" for a default, a flag and a variable
	Line   int    `json:"line,omitempty"` // from 1
	Column int    `json:"column,omitempty"`
	From   string `json:"from,omitempty"` // "--model", "ADZE_MODEL"
	// Root is the folder that "/x" patterns and relative folders count from:
	// the one that holds .adze or .claude for a project's files, the file's
	// own folder for others, the working directory for flags.
	Root string `json:"-"`
}

// String gives "file:line:column", the flag or variable, or "default".
func (o Origin) String() string {
	switch {
	case o.File != "" && o.Line > 0:
		return o.File + ":" + strconv.Itoa(o.Line) + ":" + strconv.Itoa(o.Column)
	case o.File != "":
		return o.File
	case o.From != "":
		return o.From
	}
	return string(o.Scope)
}

// A Severity says how much a problem matters.
type Severity string

// Severities.
const (
	Error   Severity = "error"   // a value, a rule or a file is not used
	Warning Severity = "warning" // probably not what was meant
)

// A Problem is something in the settings a person should know.
type Problem struct {
	Severity Severity `json:"severity"`
	Origin
	Key      string `json:"key,omitempty"`
	Message  string `json:"message"`
	Found    string `json:"found,omitempty"`
	Expected string `json:"expected,omitempty"`
	Nearest  string `json:"nearest,omitempty"` // a known key that is spelled almost so
	// Rule is the rule of the permissions that is not used because of it.
	Rule string `json:"rule,omitempty"`
	// Absent means that the setting is right, and this version cannot do it yet.
	Absent bool `json:"absent,omitempty"`
	// Misplaced means that the setting stands in a file where it never has an effect;
	// a start says so.
	Misplaced bool `json:"misplaced,omitempty"`
}

func (p Problem) String() string {
	var b strings.Builder
	if at := p.Origin.String(); at != "" { // a value that was typed stands nowhere yet
		b.WriteString(at + ": ")
	}
	b.WriteString(string(p.Severity) + ": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.what())
	return b.String()
}

// Words say it to a person who is told of a change: what is wrong, and where.
func (p Problem) Words() string {
	at := p.Origin.String()
	switch {
	case at == "":
		return p.Key + ": " + p.what()
	case p.Key == "":
		return at + ": " + p.what()
	}
	return p.Key + ": " + p.what() + " (" + at + ")"
}

// what is wrong.
func (p Problem) what() string {
	var b strings.Builder
	b.WriteString(p.Message)
	if p.Found != "" {
		b.WriteString(": found " + p.Found)
	}
	if p.Expected != "" {
		b.WriteString(", expected " + p.Expected)
	}
	if p.Nearest != "" {
		fmt.Fprintf(&b, "; did you mean %q?", p.Nearest)
	}
	return b.String()
}

// A FileState is what became of a settings file.
type FileState string

// File states.
const (
	Loaded   FileState = "loaded"
	Missing  FileState = "missing"
	Broken   FileState = "broken"    // could not be read or parsed
	LastGood FileState = "last-good" // empty on disk; the copy of the last good one is used
	Ignored  FileState = "ignored"   // of a folder that is not trusted; its deny and ask rules count
)

// A File is a settings file Load looked at.
type File struct {
	Path  string    `json:"path"`
	Scope Scope     `json:"scope"`
	CC    bool      `json:"cc,omitempty"` // of the other agent whose files are read too
	State FileState `json:"state"`
	// NotUsed are keys of a CC file that mean nothing here.
	NotUsed []string `json:"not_used,omitempty"`
	// Sum is the SHA-256 of what was read, hexadecimal; "" when nothing was.
	Sum string `json:"-"`
}

// A Claim is something a repository's settings want that could run code or
// loosen a rule: what a trust question shows.
type Claim struct {
	Key  string
	Text string // the value, as JSON, at most 500 characters
	Origin
}

// A Report is what loading found besides the values.
type Report struct {
	Files    []File
	Given    string   // the file of --settings, "" for none
	Dirs     []string // folders of which every file is read
	Problems []Problem
	// Ignored are files of an untrusted folder that wanted more than to
	// forbid something. One line on stderr should name them.
	Ignored []string
	Claims  []Claim // from project and local files, trusted or not
}
