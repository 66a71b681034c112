// Command adze is an AI agent for the terminal.
package main

import (
	"os"

	"github.com/adze-agent/adze/internal/cli"
)

func main() {
	os.Exit(cli.Main(cli.Process()))
}
