package agents

import "embed"

// Builtin are the definitions that adze brings, in the folder builtin.
//
//go:embed builtin/*.md
var Builtin embed.FS
