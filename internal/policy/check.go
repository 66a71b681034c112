package policy

// A Check names what settled a verdict. Names never change: settings of hosts
// and logs hold them.
type Check string

// Checks.
const (
	CheckRule        Check = "rule"              // a rule of the settings
	CheckMode        Check = "mode"              // the permission mode
	CheckReadOnly    Check = "read-only"         // it provably only reads
	CheckEdits       Check = "edits"             // the paths it changes are judged one by one
	CheckMaybe       Check = "maybe"             // another meaning that no rule forbids
	CheckNone        Check = "none"              // it touches nothing
	CheckSpawn       Check = "spawn"             // what the agent does is judged call by call
	CheckScratch     Check = "scratch"           // the folder belongs to the session
	CheckSandbox     Check = "sandbox"           // it runs inside the sandbox
	CheckPerson      Check = "person"            // a tool that always needs a person
	CheckProtected   Check = "protected-path"    // a file that steers other programs
	CheckRemoval     Check = "dangerous-removal" // something would be lost for good
	CheckPath        Check = "path"              // a path that may mean something else
	CheckUnsafe      Check = "unsafe-settings"   // settings that may forbid it cannot be read
	CheckNoAction    Check = "no-action"         // the tool did not say what it would do
	CheckTree        Check = "tree"              // what is below a folder could not all be seen
	CheckOpaque      Check = "opaque"            // a part could not be read exactly
	CheckSecret      Check = "secret"            // a file that may hold secrets
	CheckDeniedBelow Check = "denied-below"      // a rule denies something below the folder
	CheckApart       Check = "worktree"          // another checkout than the session's own worktree
	CheckOutside     Check = "outside"           // a path outside the folders of the session
	CheckWrite       Check = "write"             // it changes a file, and no rule covers that
	CheckNotReadOnly Check = "not-read-only"     // a command that no rule covers
	CheckUnpinned    Check = "unpinned"          // it would read settings that can make it do more
	CheckNoRule      Check = "no-rule"           // no rule covers it
	CheckAuto        Check = "auto"              // nothing covers it, in the mode whose classifier may rule
)

// license orders what allows by how much it lets pass that is not harmless by itself.
func license(v Verdict) int {
	switch v.Check {
	case CheckSandbox:
		return 4
	case CheckMode:
		return 3
	case CheckRule:
		return 2
	case CheckReadOnly, CheckNone, CheckMaybe:
		return 0
	}
	return 1
}

func gravity(v Verdict) int {
	switch v.Check {
	case CheckRemoval:
		return 4
	case CheckProtected, CheckPath:
		return 3
	case CheckRule, CheckPerson, CheckUnsafe, CheckNoAction:
		return 2
	case CheckOpaque, CheckSecret:
		return 1
	case CheckUnpinned: // what makes the others a question makes it one
		return -1
	}
	return 0
}
