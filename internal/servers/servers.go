package servers

import (
	"encoding/json"
	"time"

	"github.com/adze-agent/adze/internal/config"
)

// A Transport is how a server is spoken to.
type Transport string

// Transports.
const (
	Stdio     Transport = "stdio" // a program of ours, over its standard input and output
	HTTP      Transport = "http"  // streamable HTTP
	SSE       Transport = "sse"   // HTTP with server-sent events, as older servers have it
	WebSocket Transport = "ws"
	Host      Transport = "sdk" // served by the program that drives adze
)

// A Scope is where a server was configured. Of two with one name the first
// of this order counts: Managed, Flag, Local, Project, User, FromPlugin.
type Scope string

// Scopes.
const (
	Managed    Scope = "managed"
	Flag       Scope = "flag" // --mcp-config, or the program that drives adze
	Local      Scope = "local"
	Project    Scope = "project"
	User       Scope = "user"
	FromPlugin Scope = "plugin"
)

// An Approval says whether a server may be started.
type Approval string

// Approvals. A server of a project is Pending until a person said yes to
// exactly what it runs (see Hash).
const (
	Approved Approval = "approved"
	Pending  Approval = "pending"
	Refused  Approval = "refused" // by a person, or by a list of the settings
)

// A Server is one that is configured. It is a value; nothing changes it.
type Server struct {
	Name  string // as it was configured; tools are named after it, reduced
	Scope Scope
	config.Origin
	Plugin string // whose it is, "" for none

	Transport Transport
	// Of Stdio: what is run, and variables beside what every program gets.
	Command string
	Args    []string
	Env     map[string]string
	// Of the others. URL is absolute. Headers may hold secrets and are never shown.
	URL     string
	Headers map[string]string
	// HeadersHelper is a command whose output, a JSON object, adds headers.
	HeadersHelper string
	OAuth         OAuth

	// Apart: its program starts in a folder of its own, because it looks for code where
	// it starts, and nobody trusts the folder of the session.
	Apart bool

	// Keyless: a repository brought it, so it gets no variable of a model provider.
	Keyless bool

	// Timeout bounds a tool call; 0 leaves it to MCP_TOOL_TIMEOUT.
	Timeout time.Duration
	// AlwaysLoad: its tools are described to the model from the start.
	AlwaysLoad bool
	// TrustAnnotations: what it says of its tools (that they only read) counts for
	// permission.
	TrustAnnotations bool
	// AllowSampling: it may ask for answers of a model.
	AllowSampling bool

	// Problem is why it cannot be used as it stands ("the variable X is not set"),
	// "" when it can.
	Problem  string
	Approval Approval
	Why      string // of Refused and Pending, for people
	// Answered: it came with the folder, and Approval goes by what a person said to
	// exactly this. Programs are the files of the folder that it runs then.
	Answered bool
	Programs []Program
	// Raw is its configuration as it was written.
	Raw json.RawMessage
}

// StartsApart says of a server what Apart means.
const StartsApart = "it starts in a folder of its own, because it looks for code where it starts, and this folder is not trusted"

// Everywhere reports whether the server is configured for all folders, so that its
// command was written without this one in mind.
func (s Server) Everywhere() bool {
	switch s.Scope {
	case Managed, User, FromPlugin:
		return true
	case Flag: // of a definition of an agent that a person has everywhere
		return s.Origin.Scope == config.User
	case Local, Project:
	}
	return false
}

// OAuth is what a person set for signing in.
type OAuth struct {
	ClientID     string   `json:"clientId,omitempty"`
	CallbackPort int      `json:"callbackPort,omitempty"`
	MetadataURL  string   `json:"authServerMetadataUrl,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`

	// Flow is "client_credentials" for a program that signs in for itself,
	// "cross_app" for a company's identity provider, "" for a person.
	Flow string `json:"flow,omitempty"`
	// ClientSecret and PrivateKey are "${NAME}", never the secret: it is read from the
	// variable when it is used.
	ClientSecret string `json:"clientSecret,omitempty"`
	PrivateKey   string `json:"privateKey,omitempty"` // PEM
	IdP          *IdP   `json:"idp,omitempty"`
}

// An IdP is a company's identity provider, and adze's client there.
type IdP struct {
	Issuer       string   `json:"issuer"`
	ClientID     string   `json:"clientId"`
	ClientSecret string   `json:"clientSecret,omitempty"` // as OAuth.ClientSecret
	CallbackPort int      `json:"callbackPort,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
}

// secrets are what name a secret, with their keys.
func (o OAuth) secrets() map[string]string {
	out := map[string]string{"oauth.clientSecret": o.ClientSecret, "oauth.privateKey": o.PrivateKey}
	if o.IdP != nil {
		out["oauth.idp.clientSecret"] = o.IdP.ClientSecret
	}
	return out
}
