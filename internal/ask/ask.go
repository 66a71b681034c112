// Package ask is the one vocabulary for what a client may want to know, or have
// changed, that no event of a session says: which models there are, what a rule
// would say of a command, a setting that is to be saved. A query is data, so that it
// crosses to another process as an op does. Who answers is a desk; see package client.
package ask

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

// A Query is one question about a run or one change beside the sessions of it. What of
// a Reply answers it, its comment says.
//
//sumtype:decl
type Query interface{ query() }

type (
	// Status: Data is a Facts of the session, with Transcript when that is wanted: it is
	// kept from the first time on. That may wait for a disk.
	Status struct {
		Transcript bool `json:"transcript,omitzero"`
	}
	// Open: Data is a list of OpenSession, those of the process, the longest open first.
	Open struct{}
	// Models: Choices are the models that can be used, and Data is a list of Model.
	Models struct{}
	// Sessions: Data is a SessionList, newest first, of this project or of all.
	Sessions struct {
		All bool `json:"all,omitzero"`
	}
	// Find: Data is the Saved that an ID, a title or words name, those of this project
	// first. An error says that there is none, or several.
	Find struct {
		Words string `json:"words"`
	}
	// Search finds sessions by words anywhere in them, with what is known by then: Data
	// is an object with a line of text by the session's ID.
	Search struct {
		Words string `json:"words"`
		All   bool   `json:"all,omitzero"`
	}
	// Preview: Text is the beginning and the end of a session.
	Preview struct {
		ID string `json:"id"`
	}
	// Rename titles a session that is not open.
	Rename struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	// Diff: Shapes are what is different on disk now from before the session, by file.
	Diff struct{}
	// Context: Shapes are what fills the model's window, and Data is a Filling.
	Context struct{}
	// Cost: Text is what the session cost.
	Cost struct{}
	// Files: Names are the files of the working folder; with Near those whose names are near
	// to it, at most Max, the nearest first.
	Files struct {
		Near string `json:"near,omitempty"`
		Max  int    `json:"max,omitzero"`
	}
	// Resources: Choices are those of MCP servers that Part of "server:uri" may mean, at
	// most Max; the ID is all of it.
	Resources struct {
		Part string `json:"part"`
		Max  int    `json:"max"`
	}
	// Receivers: Choices are the agents and the open sessions that a prompt can be sent to which
	// begins with "@" and the ID.
	Receivers struct{}
	// Arguments: Choices are what the word behind a slash command may be that is being
	// written, at the end of Args.
	Arguments struct {
		Command string `json:"command"`
		Args    string `json:"args,omitempty"`
	}
	// Memory: Choices are the memory files that a line can be added to.
	Memory struct{}
	// Remembered: Choices are the memory files that the session read so far, and notes.
	Remembered struct{}
	// Note adds a line to a memory file.
	Note struct {
		File string `json:"file"`
		Line string `json:"line"`
	}
	// Rules: Data is a RuleSet: the permission rules, the folders and the mode in force.
	Rules struct{}
	// Forget removes a rule from the settings file that it stands in.
	Forget struct {
		Rule Rule `json:"rule"`
	}
	// Settings: Data is a SettingsNow.
	Settings struct{}
	// Save writes a setting into the file of a scope, "" being the person's own.
	Save struct {
		Scope policy.Scope    `json:"scope,omitempty"`
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	}
	// Hooks: Text is the hooks that are set, and Data a HookSet of those of the session.
	Hooks struct{}
	// Servers: Data is a list of Server, the MCP servers, and Text shows it; with Name, all
	// that is known of that one. With Do, something is done with it, and Text says what came of
	// that.
	Servers struct {
		Name string   `json:"name,omitempty"`
		Do   ServerDo `json:"do,omitempty"`
	}
	// Offers: Data is what the session has beside adze's own, as the event "extended" has
	// it, and Text shows the commands or the agents of it.
	Offers struct {
		Of OfferKind `json:"of,omitempty"`
	}
	// Definitions: Data is a list of Definition, those of agents, the person's first. With Do,
	// something is done with the one of the Name, and Text says what came of that; Names has
	// the file that was begun.
	Definitions struct {
		Name  string       `json:"name,omitempty"`
		Do    DefinitionDo `json:"do,omitempty"`
		Scope policy.Scope `json:"scope,omitempty"` // of a new one: "user" or "project"
	}
	// Style has an output style count from the next session on: Text says so. ask.Pick lists
	// them.
	Style struct {
		Name string `json:"name"`
	}
	// Folders: Text lists the folders that may be used as the working one may be. With Add,
	// one more can, until adze ends or with Keep from now on, and Text says so.
	Folders struct {
		Add  string `json:"add,omitempty"`
		Keep bool   `json:"keep,omitzero"`
	}
	// Serve has these MCP servers, as settings have them, and only these beside those that are
	// configured: Data is a ServersChanged. Deliver hands over a message of one that the
	// program serves itself which drives adze.
	Serve struct {
		Servers map[string]json.RawMessage `json:"servers"`
	}
	Deliver struct {
		Server  string          `json:"server"`
		Message json.RawMessage `json:"message"`
	}
	// Reload looks anew at plugins, skills and servers: Data is as of Offers.
	Reload struct{}
	// Call calls a tool of MCP servers outside of any turn, and Resource reads a resource of
	// one: Data is a Called. What a rule denies does not run, and with Strict nothing that the
	// rules and the mode do not allow.
	Call struct {
		Tool   string          `json:"tool"`
		Input  json.RawMessage `json:"input,omitempty"`
		Strict bool            `json:"strict,omitzero"`
	}
	Resource struct {
		Server string `json:"server"`
		URI    string `json:"uri"`
	}
	// Read: Data is a File, of which at most Max bytes are read; 0 is 1 MB. What a rule
	// denies to read is not read.
	Read struct {
		Path string `json:"path"`
		Max  int64  `json:"max,omitzero"`
	}
	// Output: Data is a Written, the end of what a task in the background wrote, of at most
	// Max bytes; 0 is 8 KB.
	Output struct {
		Task string `json:"task"`
		Max  int    `json:"max,omitzero"`
	}
	// Tasks: Data is a list of Task, the work beside the turns of the session and of the agents
	// that work for it: what runs, then what has ended, the newest first. Text shows it.
	Tasks struct{}
	// Agent starts an agent of the session that works in the background on what a person typed:
	// Text says which, and Names has its ID.
	Agent struct {
		Prompt string `json:"prompt"`
	}
	// Seen has a file count as read by the model unless it changed since At, in milliseconds
	// since 1970: Data is whether it does.
	Seen struct {
		Path string `json:"path"`
		At   int64  `json:"at"`
	}
	// Within refuses a folder that is none of those below which the session works.
	Within struct {
		Folder string `json:"folder"`
	}
	// Title: Text is a title for what a session is to be about. A model may be asked.
	Title struct {
		About string `json:"about"`
	}
	// Report gives the command of adze that a slash command stands for, with the flags,
	// settings, rules and mode of this run: Text is what it prints.
	Report struct {
		Name string `json:"name"`
		Args string `json:"args,omitempty"`
	}
	// Pick: Choices are what the argument of a Report can be, none where nothing has to
	// be chosen.
	Pick struct {
		Name string `json:"name"`
	}
	// Aside asks the model a question that does not enter the conversation: Text is its
	// answer.
	Aside struct {
		Question string `json:"question"`
	}
	// Trust: Data is a Claims about what this folder brings, nothing when there is nothing
	// to decide.
	Trust struct{}
	// Decide trusts what the folder brings, or has it not asked again before it changes.
	// Sum is that of the Claims which a person saw: about anything else nothing is
	// decided.
	Decide struct {
		Sum   string `json:"sum"`
		Trust bool   `json:"trust"`
	}
)

func (Status) query()      {}
func (Open) query()        {}
func (Models) query()      {}
func (Sessions) query()    {}
func (Find) query()        {}
func (Search) query()      {}
func (Preview) query()     {}
func (Rename) query()      {}
func (Diff) query()        {}
func (Context) query()     {}
func (Files) query()       {}
func (Resources) query()   {}
func (Receivers) query()   {}
func (Arguments) query()   {}
func (Memory) query()      {}
func (Remembered) query()  {}
func (Note) query()        {}
func (Rules) query()       {}
func (Forget) query()      {}
func (Save) query()        {}
func (Hooks) query()       {}
func (Servers) query()     {}
func (Offers) query()      {}
func (Definitions) query() {}
func (Style) query()       {}
func (Folders) query()     {}
func (Cost) query()        {}
func (Settings) query()    {}
func (Serve) query()       {}
func (Deliver) query()     {}
func (Reload) query()      {}
func (Call) query()        {}
func (Resource) query()    {}
func (Read) query()        {}
func (Output) query()      {}
func (Tasks) query()       {}
func (Agent) query()       {}
func (Seen) query()        {}
func (Within) query()      {}
func (Title) query()       {}
func (Report) query()      {}
func (Pick) query()        {}
func (Aside) query()       {}
func (Trust) query()       {}
func (Decide) query()      {}

// A Reply answers a Query; which of its parts, the query says. A change is answered with
// the zero Reply, or a Text that tells of it.
type Reply struct {
	Text    string
	Shapes  []view.Block
	Choices []Choice
	Names   []string
	// Data is a value of the type that the query names, or its JSON (json.RawMessage)
	// when it came from another process; nil is none. The function Data reads either.
	Data any
}

// A Choice is one line of a menu.
type Choice struct {
	ID    string   `json:"id"` // what is chosen
	Name  string   `json:"name"`
	About string   `json:"about,omitempty"` // quiet, beside it
	Right string   `json:"right,omitempty"` // facts at the right edge
	Lead  string   `json:"lead,omitempty"`  // before the name: where it belongs
	Find  string   `json:"find,omitempty"`  // further words that a search finds it by
	Also  []string `json:"also,omitempty"`  // other names, in small letters: who types one means this
	Now   bool     `json:"now,omitzero"`    // it is in force
	Part  bool     `json:"part,omitzero"`   // what is completed with it goes on
}

// Data reads the Data of a reply. Without any it is the zero T.
func Data[T any](r Reply) (v T, err error) {
	switch d := r.Data.(type) {
	case nil:
	case T:
		v = d
	case json.RawMessage:
		if err = json.Unmarshal(d, &v); err != nil {
			err = fmt.Errorf("the answer cannot be read: %w", err)
		}
	default:
		err = fmt.Errorf("the answer is a %T, not a %T", d, v)
	}
	return v, err
}

// With is a reply with Data, which is the reader's from then on.
func With(v any) Reply { return Reply{Data: v} }

// codec is the one table of names; names never change.
var codec = op.Codec[Query]{Noun: "query", Kinds: []op.Kind[Query]{
	op.KindOf[Query, Status]("status"),
	op.KindOf[Query, Open]("open"),
	op.KindOf[Query, Models]("models"),
	op.KindOf[Query, Sessions]("sessions"),
	op.KindOf[Query, Find]("find"),
	op.KindOf[Query, Search]("search"),
	op.KindOf[Query, Preview]("preview"),
	op.KindOf[Query, Rename]("rename"),
	op.KindOf[Query, Diff]("diff"),
	op.KindOf[Query, Context]("context"),
	op.KindOf[Query, Files]("files"),
	op.KindOf[Query, Resources]("resources"),
	op.KindOf[Query, Receivers]("receivers"),
	op.KindOf[Query, Arguments]("arguments"),
	op.KindOf[Query, Memory]("memory"),
	op.KindOf[Query, Remembered]("remembered"),
	op.KindOf[Query, Note]("note"),
	op.KindOf[Query, Rules]("rules"),
	op.KindOf[Query, Forget]("forget"),
	op.KindOf[Query, Save]("save"),
	op.KindOf[Query, Hooks]("hooks"),
	op.KindOf[Query, Servers]("servers"),
	op.KindOf[Query, Offers]("offers"),
	op.KindOf[Query, Definitions]("definitions"),
	op.KindOf[Query, Style]("style"),
	op.KindOf[Query, Folders]("folders"),
	op.KindOf[Query, Cost]("cost"),
	op.KindOf[Query, Settings]("settings"),
	op.KindOf[Query, Serve]("serve"),
	op.KindOf[Query, Deliver]("deliver"),
	op.KindOf[Query, Reload]("reload"),
	op.KindOf[Query, Call]("call"),
	op.KindOf[Query, Resource]("resource"),
	op.KindOf[Query, Read]("read"),
	op.KindOf[Query, Output]("output"),
	op.KindOf[Query, Tasks]("tasks"),
	op.KindOf[Query, Agent]("agent"),
	op.KindOf[Query, Seen]("seen"),
	op.KindOf[Query, Within]("within"),
	op.KindOf[Query, Title]("title"),
	op.KindOf[Query, Report]("report"),
	op.KindOf[Query, Pick]("pick"),
	op.KindOf[Query, Aside]("aside"),
	op.KindOf[Query, Trust]("trust"),
	op.KindOf[Query, Decide]("decide"),
}}

// Name is what q is called in JSON, "" for nil.
func Name(q Query) string { return codec.Name(q) }

// Marshal gives the JSON form of q, on one line: {"v":1,"query":"find","with":{"words":"x"}}.
func Marshal(q Query) ([]byte, error) { return codec.Marshal(q) }

// Types are the types of all queries by their names.
func Types() iter.Seq2[string, reflect.Type] { return codec.Types() }

// Unmarshal reads what Marshal wrote; an error is an op.Refusal.
func Unmarshal(raw []byte) (Query, error) { return codec.Unmarshal(raw) }

// reply is the JSON form of a Reply.
type reply struct {
	Text    string            `json:"text,omitempty"`
	Shapes  []json.RawMessage `json:"shapes,omitempty"`
	Choices []Choice          `json:"choices,omitempty"`
	Names   []string          `json:"names,omitempty"`
	Data    json.RawMessage   `json:"data,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (r Reply) MarshalJSON() ([]byte, error) {
	out := reply{Text: r.Text, Choices: r.Choices, Names: r.Names}
	if r.Data != nil {
		raw, err := json.Marshal(r.Data)
		if err != nil {
			return nil, err
		}
		out.Data = raw
	}
	for _, b := range r.Shapes {
		raw, err := view.Marshal(b)
		if err != nil {
			return nil, err
		}
		out.Shapes = append(out.Shapes, raw)
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reply) UnmarshalJSON(raw []byte) error {
	var in reply
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	*r = Reply{Text: in.Text, Choices: in.Choices, Names: in.Names}
	if in.Data != nil {
		r.Data = in.Data
	}
	for _, s := range in.Shapes {
		b, err := view.Unmarshal(s)
		if err != nil {
			return err
		}
		r.Shapes = append(r.Shapes, b)
	}
	return nil
}
