package op

// A Refusal is why a session did not take an op. It crosses to other
// processes as it is, so that every client can tell one from another by Code.
type Refusal struct {
	Code Code   `json:"code"`
	Text string `json:"text"` // one sentence, for a person
	// Advice is what a person can do about it, "" for what Err says of that.
	Advice string `json:"hint,omitempty"`
	Err    error  `json:"-"` // the cause, in the process that refused
}

func (r *Refusal) Error() string { return r.Text }

// Hint implements hint.Hinter.
func (r *Refusal) Hint() string { return r.Advice }

// Unwrap gives the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// Is reports whether target is a refusal of the same code, whatever it says.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}

// A Code says which refusal it is. Codes never change.
type Code string

// Codes of refusals.
const (
	Idle        Code = "idle"           // nothing is running
	Busy        Code = "busy"           // something runs that must end first
	NoQuestion  Code = "no_question"    // the question is not open (any more)
	NoPrompt    Code = "no_prompt"      // the prompt does not wait (any more)
	NoTask      Code = "no_task"        // nothing of that name runs, or can go to the background
	Closed      Code = "closed"         // the session is closed
	NoSession   Code = "no_session"     // no session of that ID is open here
	Taken       Code = "taken"          // another process has the session open
	NoModel     Code = "no_model"       // no provider has a key, and no local server answers
	NoKey       Code = "no_key"         // there is no key for the model that was named
	UnknownMode Code = "unknown_mode"   // there is no such permission mode
	Forbidden   Code = "forbidden_mode" // settings or the start forbid the mode
	TooLarge    Code = "too_large"      // it does not fit the model's window
	BadModel    Code = "bad_model"      // the model cannot be had
	BadRule     Code = "bad_rule"       // a rule cannot be read
	NoCommand   Code = "no_command"     // there is no such slash command
	NoGoal      Code = "no_goal"        // no goal is set, or none that this can be done with
	BadGoal     Code = "bad_goal"       // the condition cannot be a goal's
	Denied      Code = "denied"         // the connection may not do that (ask.Scope)
	Malformed   Code = "malformed"      // it is not the JSON form of an op
	Undelivered Code = "undelivered"    // a message does not get to whom it is for
	MailboxFull Code = "mailbox_full"   // too many messages wait for the session
	Unsupported Code = "unsupported"    // this session or version cannot do it
)
