package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/proc"
)

// helperTime bounds apiKeyHelper.
const helperTime = 10 * time.Second

// minHeader is from how many characters on the value of a header that a variable names is
// taken for a secret.
const minHeader = 8

// KeyVariables are the names of the variables that hold keys of providers with these
// settings, and headers of their requests.
func KeyVariables(cfg *config.Config) []string {
	out := slices.Clone(choose.KeyVariables())
	for _, p := range cfg.Providers {
		out = append(out, p.KeyEnv)
	}
	return out
}

// keys is where saved keys are.
func (c Config) keys() auth.Store {
	return auth.Store{Dir: c.Folders.Config, Keyring: auth.System(runtime.GOOS, c.Env)}
}

// environOf is the process's environment with the variables of the person's settings.
func environOf(o Config, cfg *config.Config) []string {
	out := slices.Clone(o.Environ)
	for name := range cfg.Env {
		if v, _, own := cfg.Variable(name); own {
			out = proc.Set(out, name+"="+v)
		}
	}
	return out
}

// keyHelper runs the person's own command for a key. The settings table takes
// it from no project file.
func keyHelper(ctx context.Context, o Config, environ []string, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	shell, err := proc.Shell(o.Env("PATH"), nil)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, shell, "-c", command)
	cmd.Env = environ
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the command failed: %w", err)
	}
	key := strings.TrimSpace(out.String())
	if key == "" {
		return "", errors.New("the command printed no key")
	}
	return key, nil
}
