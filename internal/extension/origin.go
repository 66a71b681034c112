package extension

// An Origin is who brought something. Two are the same when all their fields are.
type Origin struct {
	Kind OriginKind
	// Name is the name of the plugin, the MCP server or the agent. Of a place it is
	// the place, as people read it: a file, a folder, "the settings".
	Name string
	// Where says where an MCP server is configured, or who brought an agent.
	Where string
}

// An OriginKind says what an Origin is.
type OriginKind uint8

// The kinds. The zero Origin is adze itself.
const (
	FromAdze OriginKind = iota
	FromPlace
	FromPlugin
	FromServer
	FromAgent
)

// OfPlace is the Origin of what a file, a folder or a flag brings.
func OfPlace(place string) Origin { return Origin{Kind: FromPlace, Name: place} }

// OfServer is the Origin of what an MCP server brings that is configured at where.
func OfServer(name, where string) Origin { return Origin{FromServer, name, where} }

// String is the origin in words that people read.
func (o Origin) String() string {
	s := o.Name
	switch o.Kind {
	case FromAdze:
		return "adze"
	case FromPlace:
	case FromPlugin:
		s = "the plugin " + s
	case FromServer:
		s = "the MCP server " + s
	case FromAgent:
		s = "the agent " + s
	}
	if o.Where != "" {
		s += " (" + o.Where + ")"
	}
	return s
}
