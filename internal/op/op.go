// Package op is the one vocabulary for what a client may ask of a session.
// What comes of an op arrives as events; an op carries no results.
package op

// An Op is one request. The session accepts it or refuses it.
//
//sumtype:decl
type Op interface{ op() }

type (
	// Prompt is what a person says. While a turn runs it is queued and given
	// to the model after the current step. ID is the client's name for it
	// ("" lets the session choose) and must be unique in the session.
	Prompt struct {
		ID     string
		Text   string
		Images []Image
		// Tokens, when positive, is the turn's token budget ("+500k").
		Tokens int
	}
	// Notify tells the model something that happened meanwhile (a background
	// command ended), after the current step. It starts no turn.
	Notify struct{ Text string }
	// Unqueue takes back a queued prompt that the model has not seen.
	Unqueue struct{ ID string }
	// Interrupt stops the running turn.
	Interrupt struct{}
	// Answer settles an open question. The first answer wins.
	Answer struct {
		Call  string
		Allow bool
		By    string // which client
		// Comment goes to the model: what to do instead, or what to mind.
		Comment string
		// Rules are saved rules for the session ("Bash(go test *)").
		Rules []string
		// Choices answers view.Questions: the chosen labels, per question.
		Choices [][]string
	}
	// SetModel changes the model from the next step on.
	SetModel struct{ Name string }
	// SetMode changes the permission mode from the next call on.
	SetMode struct{ Mode string }
	// Rename titles the session.
	Rename struct{ Title string }
)

// An Image is a picture in a prompt; Media is an IANA media type.
type Image struct {
	Media string
	Data  []byte
}

func (Prompt) op()    {}
func (Notify) op()    {}
func (Unqueue) op()   {}
func (Interrupt) op() {}
func (Answer) op()    {}
func (SetModel) op()  {}
func (SetMode) op()   {}
func (Rename) op()    {}
