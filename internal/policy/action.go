package policy

import "iter"

// An Action is something a tool intends to do to the world.
//
//sumtype:decl
type Action interface{ action() }

type (
	// Exec is one simple command, read exactly. Argv is literal (quotes
	// removed, nothing left to expand) and holds no wrapper: `timeout 5 ls`
	// is Exec{Argv: ls}. Env are the assignments before it, NAME=value.
	// ReadOnly means the read-only table proved that it changes nothing and
	// runs nothing else; the paths it reads are among Touches.
	Exec struct {
		Argv     []string
		Env      []string
		Dir      string // where it would run, "" when unknown
		ReadOnly bool
		// Edits means that the Write actions of Touches are all it does, so
		// that they decide (cp, mkdir, sed -i …).
		Edits bool
		Why   string // why it is not read-only, in plain words
		// Unpinned, of one that is ReadOnly or Edits beside a command that is
		// neither, says why it may do more in the environment that it then gets,
		// which is not pinned (see Needs); "" when it does not.
		Unpinned string
		// Handles says whether the program has no need of files that hold secrets.
		Handles Handling
		// Touches is what its words name: Read and Write actions, and Opaque parts of it. What
		// allows the command speaks for these, too.
		Touches []Action
		Reach
		Inner
		Loss
		Spellings
		Sure Sureness
		Site
	}
	// Opaque is a script, or a part of one, that could not be read exactly.
	Opaque struct {
		Source, Why string
		// Listed means that all its commands are listed: what is not known is which
		// files it touches, or with which variables.
		Listed bool
		// Runs means that a command may run which is not among the actions, and may be
		// any program.
		Runs bool
		// Whole means that it was read exactly, and Why says what speaks against it.
		Whole bool
		// Of is as in Site. Own means that the part is what that command itself is there to
		// do to the shell, so that a rule which names the command covers it.
		Of  *Written
		Own bool
		// Sets is the assignment NAME=value that it is about, "" when it is another thing,
		// or the value is not known; with Steers the variable may make programs run others.
		Sets   string
		Steers bool
	}
	// Read names a file or folder whose content is read. Asked is what was
	// written, Path what it resolves to.
	Read struct {
		Path, Asked string
		Named       string // Asked made absolute without following links; "" when not known
		// Tree means that everything below Path may be read.
		Tree bool
		// Visible means that what begins with a dot below Path is skipped.
		Visible bool
		// List means that only names and sizes are read, not content.
		List bool
		// Folder means that Path is known to be a folder: it holds what files in it hold.
		Folder bool
		// MayWrite means that a program of which that is not known may just as well
		// write Path: what is protected needs a person then.
		MayWrite bool
		// Elsewhere means that the names of what is read come from another command.
		Elsewhere bool
		// Edits means that nobody knows that the program leaves alone what it is given:
		// a rule that denies to edit Path makes it a question.
		Edits bool
		// Sure is Possible of a path that stands inside of a word, in code or behind a flag:
		// nothing but MayWrite is judged.
		Sure Sureness
		// Given means that what is read goes to a program of the same call, and nothing
		// else of the call shows it.
		Given bool
		// Code, of what is Possible, means that what the path stands in is given to a program
		// that reads files by the names in it.
		Code bool
		// Kept, of what is Possible, means that the repository takes in what it names though git
		// ignores that, and all who may read the repository can read it from there.
		Kept bool
		// Below, of a Tree, are the files that would be read; nil when nobody looked.
		Below *Below
	}
	// Write names a file that is created, changed or removed.
	Write struct {
		Path, Asked string
		Remove      bool
		Named       string // as in Read
		Tree        bool   // everything below Path is removed or changed too
		// Standing, of a Tree and of what is Within, is what may be meant below Path; nil
		// when nobody can look, and a rule that names some of it is a question then.
		Standing *Standing
		// Moved means that what is removed goes on under another name.
		Moved bool
		// Content, of what is removed, means what is in Path and not Path itself.
		Content bool
		// Blind means that what is written comes out of a pipe: acceptEdits
		// does not cover it.
		Blind bool
		// Sure is Guessed of what a word that is not known may name, among what is Below.
		Sure Sureness
		// Makes means that Path is made as an empty folder, where it is not there.
		Makes bool
		// Below are further paths that are written or removed with this one.
		Below *Below
		// Within means that something below Path is written, not known what.
		Within bool
		// Opens means that the command works on all of the folder Path, and the sandbox would
		// let it do only a part of that: git in a subfolder of its work tree, git worktree
		// remove. What allows the command opens the folder for it (Needs.Folders).
		Opens bool
		// Barred means that commands in the sandbox cannot write Path, unless it is opened
		// for them (Needs.Folders).
		Barred bool
		Keeps
	}
	// Net is a connection; Host is a name or an address. No rule speaks of ports.
	// URL is set when one was asked for.
	Net struct {
		Host string
		URL  string
	}
	// Call is a tool of an MCP server, by the names that models call it by. People
	// know the server by its settings and the tool by its server's own word: the real
	// names, which rules may say as well; "" when they are not known.
	Call struct {
		Server, Tool         string
		RealServer, RealTool string
		Shared               bool // another server has the same real name, as far as names of tools tell

		ReadOnly bool // the server says so, and a person set that it is believed
	}
	// Spawn starts an agent of this type.
	Spawn struct{ Agent string }
	// Tell gives a text to another model: that of an agent, or of another session by its ID or
	// title. Own means that it works for the same person's session as who says it.
	Tell struct {
		To  string
		Own bool
	}
	// Workflow runs a script that starts agents. Inline: the model wrote it for this call, so
	// that its name says nothing of what it does.
	Workflow struct {
		Name   string
		Inline bool
	}
	// Skill loads a skill. Plain means that it brings nothing but words: no rule, no
	// other model.
	Skill struct {
		Name  string
		Plain bool
	}
	// Person needs an answer from a person whatever the mode is. Soft is for a
	// question that the mode bypassPermissions answers, and rules that allow all
	// commands of the call. Hooks is for one that a person's hooks may answer with
	// yes in their stead.
	Person struct {
		Why   string
		Soft  bool
		Hooks bool
	}
	// None touches nothing outside the session.
	None struct{}
)

// Spellings are the words of a command besides Argv.
type Spellings struct {
	// Also are further spellings of the same command that deny and ask
	// rules see: with the wrapper it stood in, without git's global options.
	Also [][]string
	// Loose means that some word of Argv is not literal but its source text.
	Loose bool
	// Open says what is known of those words.
	Open []Open
}

// Reach says which allow rules cover a command that they name with a wildcard.
type Reach struct {
	// Beyond, when set, says why one does not: a flag makes it run another program, or an
	// argument is not known before it runs. A rule that spells it out still does.
	Beyond string
	// Strays are what its words name of which nobody knows that the program only reads it:
	// paths that may lie outside of the folders of the session. A rule with a wildcard does
	// not cover a command with one that does, unless it says so.
	Strays []Stray
	// Outputs are the flags that Beyond is about, when all they do is write files: a rule
	// that names them covers the command, and those files in the folders that may be
	// written. One that ends with a sign of equality has its value glued to it.
	Outputs []string
	// Spelled, when set, is how many of the first words hold all flags that Beyond is about,
	// with what they take: only a rule that spells these out covers the command. Where
	// Launches is set as well, it does what it would do without them.
	Spelled int
	// Without is the same command without the flags that only say where it works, what it is
	// told in its own language and which files it writes, as far as a rule with a wildcard
	// is concerned: one that covers Without covers the command, where all Places, which
	// these flags name, resolved, lie in the folders of the session.
	Without *Exec
	Places  []string
	// RunnerWords, when set, is the number of leading words that belong to a runner (bundle
	// exec: 2). Beyond is then about the runner only: a rule that names the command too covers it.
	RunnerWords int
	// Launches, when set, is how many words of Argv say that the rest is a command to
	// run (docker compose exec), and that is all Beyond is about. A rule that names
	// them covers it; with Starts one that names the program does, and with Elsewhere
	// (in a container) one that goes on into the command, which else counts as if it
	// stood alone.
	Launches          int
	Starts, Elsewhere bool
}

// A Stray is a path as it stands in a word, and what it resolves to; without a path it may be
// any. A rule that has the first words of the command, as many as Meant, means it; 0 for none.
type Stray struct {
	Word, Asked, Path string
	Meant             int
}

// Inner is what a command may run that is not among the actions.
type Inner struct {
	// Unseen, when set, says why commands that this one starts are not known.
	// Where a rule denies commands, no sandbox and no wildcard excuses that.
	Unseen string
	// FromFile means that what is Unseen is the content of a file which the
	// command names, as it is of any program.
	FromFile bool
	// Holds says what of it may be run as a command of its own, besides what Said are:
	// words of Argv that are prose. Fed are texts that it is given to read.
	Holds     Holding
	Said, Fed []string
}

// Loss is what a command destroys.
type Loss struct {
	// Loses, when set, says what would be lost for good. Such a command is
	// asked about in every mode.
	Loses string
	// Lost, when Loses is set, are the words by which a rule says that this is meant.
	Lost []string
}

// Site is where a command stands in its script.
type Site struct {
	// Pipe is the pipeline that it is part of, 0 for none, and Stage its place there: what
	// stands in a substitution among the words of a command comes before that.
	Pipe, Stage int
	// Of is the command as the script has it, in which this one was found; nil when it
	// is not known.
	Of *Written
}

// Keeps says of a path that a program keeps its settings there.
type Keeps struct {
	// Own means that the program which is run does (git config): what allows the command, a
	// rule or the mode bypassPermissions, allows this as well, although it is protected.
	Own bool
	// Steers, of what is Own, means that the setting makes the program run another
	// one: a rule that allows every command does not speak of that.
	Steers bool
	// Routine, of what is Own, means that the command writes there what it writes every
	// day, and no setting that somebody chose: git push -u, which branch follows which.
	// The sandbox keeps no more than that, so it is no question there.
	Routine bool
	// Sets are the settings that the command itself names, NAME=value or, where one is
	// removed, NAME, each on a line: who allows the command allows these.
	Sets string
}

// Sureness says how sure it is that something happens when a call runs.
type Sureness int

// From the surest. What is not Certain is there for what forbids or asks, and needs no
// approval of its own.
const (
	Certain Sureness = iota
	// Inside: another command would start it, or a function that may be called, and needs
	// the approval.
	Inside
	// Possible: the words of another command may mean it.
	Possible
	// Guessed: nobody knows whether words which may mean it are run at all, so that what a
	// rule forbids is a question.
	Guessed
)

// All yields actions, behind each command what it touches.
func All(as []Action) iter.Seq[Action] {
	return func(yield func(Action) bool) {
		for _, a := range as {
			if !yield(a) {
				return
			}
			if e, ok := a.(Exec); ok {
				for _, t := range e.Touches {
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}

// A Written is a simple command as a script has it, before what it starts is taken
// apart. It belongs to one reading of a script, and is not changed afterwards.
type Written struct {
	Argv []string
	Env  []string // NAME=value before it
	// Open means that some word is not known before it runs, so that it may be more than
	// one, or a flag; Loose that some word is not literal.
	Open, Loose bool
	// Starts means that it is there to run another command, which was read too: a wrapper
	// (timeout), a shell, source.
	Starts bool
	// In is the command that gave the script in which it stands (bash -c); nil for none.
	In *Written
	// Line, of a script that is nothing but simple commands one behind the other, are all
	// of them, and At is its place there; nil of any other.
	Line *Line
	At   int
}

// A Line is a script that is nothing but simple commands. Piped says of each whether it
// stands behind a pipe, and Fails whether it stands behind ||.
type Line struct {
	Steps        []*Written
	Piped, Fails []bool
}

// A Handling says whether a program only handles files: reads, packs or copies them.
type Handling int

// Handlings.
const (
	NoHandling     Handling = iota // it may do anything with what is in them
	HandlesQuietly                 // it does, and prints nothing of what is in them
	HandlesAny                     // it does
)

func (Exec) action()     {}
func (Opaque) action()   {}
func (Read) action()     {}
func (Write) action()    {}
func (Net) action()      {}
func (Call) action()     {}
func (Spawn) action()    {}
func (Tell) action()     {}
func (Workflow) action() {}
func (Skill) action()    {}
func (Person) action()   {}
func (None) action()     {}
