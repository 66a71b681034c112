package mcp

import "github.com/adze-agent/adze/internal/tool"

type prompt struct{}

func (h *Hub) resourceTools() []tool.Tool { return nil }
