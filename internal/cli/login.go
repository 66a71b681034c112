package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
)

func newLogin(sys System, f *runFlags) *cobra.Command {
	keyFile, list := "", false
	c := answering(sys, &cobra.Command{
		Use: "login PROVIDER", Short: "Save the API key of a model provider", Args: cobra.ArbitraryArgs,
		Long: `login saves a key in the system's keyring where one works, else in a file that only
you can read. It asks for the key on the terminal without showing it; without a
terminal it reads one line from stdin. A key is never given as an argument, because
every program on the machine can read arguments.

  adze login anthropic
  pass show openai | adze login openai`,
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		p, ch, err := keyHolders(cmd, sys, f)
		if err != nil {
			return nil, err
		}
		if list {
			saved, err := keys(sys, p).List()
			return listing[auth.Saved]{rows: saved, note: "no key is saved", row: func(t *table, s auth.Saved) {
				t.row(s.Provider, string(s.Place))
			}}, authError(err)
		}
		to, err := keyed(ch, args, "adze login --list shows which have a key")
		if err != nil {
			return nil, err
		}
		key, err := readKey(cmd.Context(), sys, to.Name, keyFile)
		if err != nil {
			return nil, authError(err)
		}
		return nil, saveKey(cmd.Context(), sys, keys(sys, p), to, key)
	})
	c.Flags().StringVar(&keyFile, "key-file", "", "read the key from this file")
	c.Flags().BoolVar(&list, "list", false, "list the providers with a saved key")
	c.Flags().Lookup("json").Usage = "with --list: as JSON"
	return c
}

func newLogout(sys System, f *runFlags) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use: "logout PROVIDER", Short: "Forget the saved API key of a model provider", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, ch, err := keyHolders(cmd, sys, f)
			if err != nil {
				return err
			}
			store := keys(sys, p)
			if all {
				return forgetAll(cmd.Context(), sys, store)
			}
			saved, err := store.List()
			if err != nil {
				return authError(err)
			}
			from := choose.Keyed{}
			if len(args) == 1 && slices.ContainsFunc(saved, func(s auth.Saved) bool { return s.Provider == args[0] }) {
				from.Name = args[0] // also one that the settings no longer have
			} else if from, err = keyed(ch, args, "adze login --list shows which have a key"); err != nil {
				return err
			}
			if err := store.Delete(cmd.Context(), clip.Visible(from.Name)); err != nil {
				return authError(err)
			}
			fmt.Fprintf(sys.Stderr, "forgot the key of %s\n", clip.Visible(from.Name))
			noteVariable(sys, from)
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "forget every saved key")
	return c
}

// keys is where this person's keys are saved.
func keys(sys System, p settings.Paths) auth.Store {
	return auth.Store{Dir: p.Folders.Config, Keyring: auth.System(runtime.GOOS, sys.Env)}
}

func keyHolders(cmd *cobra.Command, sys System, f *runFlags) (settings.Paths, *choose.Chooser, error) {
	o, p, cfg, err := f.loaded(sys, cmd)
	if err != nil {
		return p, nil, err
	}
	m, err := o.Models(p.Folders, cfg, !o.Print, nil)
	if err != nil {
		return p, nil, openError(cmd.Context(), err)
	}
	return p, m.Chooser, nil
}

// keyed finds the provider that was named. What else was given is not
// repeated: it may be a key.
func keyed(ch *choose.Chooser, args []string, hint string) (choose.Keyed, error) {
	all := ch.Keyed()
	names := make([]string, 0, len(all))
	for _, k := range all {
		names = append(names, k.Name)
	}
	switch len(args) {
	case 0:
		return choose.Keyed{}, usagef("one of "+strings.Join(names, ", "), "which provider?")
	case 1:
	default:
		return choose.Keyed{}, usagef("give only the provider; the key is asked for, or read from stdin", "a key is not taken as an argument: other programs can read those")
	}
	name := strings.ToLower(args[0])
	if name == "google" {
		name = "gemini"
	}
	if i := slices.IndexFunc(all, func(k choose.Keyed) bool { return strings.EqualFold(k.Name, name) }); i >= 0 {
		return all[i], nil
	}
	ws := near.Words(name, names)
	if len(ws) == 0 {
		return choose.Keyed{}, usagef("one of "+strings.Join(names, ", "), "there is no such provider that takes a key")
	}
	return choose.Keyed{}, usagef("did you mean "+strings.Join(ws, " or ")+"? "+hint, "there is no provider %q that takes a key", args[0])
}

// readKey gets a key from a file, the terminal or stdin.
func readKey(ctx context.Context, sys System, provider, file string) (string, error) {
	var key string
	var err error
	switch {
	case file == "-":
		key, err = keyLine(ctx, sys.Stdin)
	case file != "":
		key, err = keyFromFile(file)
	case sys.InTTY:
		key, err = readHidden(ctx, sys, "API key of "+provider+" (hidden; Esc cancels): ")
	default:
		key, err = keyLine(ctx, sys.Stdin)
	}
	if err != nil {
		return "", err
	}
	key = auth.Clean(key)
	return key, auth.Check(key)
}

func keyFromFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil && info.Size() > auth.MaxKey+2 {
		err = errors.New("it is too large for a key")
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return "", usagef("give the path of a file that holds only the key", "--key-file: %v", hint.Cause(err))
	}
	return string(b), nil
}

// keyLine reads one line.
func keyLine(ctx context.Context, in io.Reader) (string, error) {
	b, err := wait(ctx, func() ([]byte, error) {
		return bufio.NewReaderSize(io.LimitReader(in, auth.MaxKey+3), 4096).ReadBytes('\n')
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimPrefix(string(b), "\ufeff"), nil
}

// wait runs a read that cannot be interrupted, until the context ends.
func wait(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type answer struct {
		b   []byte
		err error
	}
	ch := make(chan answer, 1)
	go func() { b, err := read(); ch <- answer{b, err} }() // ends with the read, or with the process
	select {
	case a := <-ch:
		return a.b, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func saveKey(ctx context.Context, sys System, store auth.Store, to choose.Keyed, key string) error {
	at, why, err := store.Save(ctx, to.Name, key)
	if err != nil {
		return authError(err)
	}
	if why != nil {
		fmt.Fprintf(sys.Stderr, "the system keyring cannot be used: %s\n", oneLine(why.Error()))
	}
	fmt.Fprintf(sys.Stderr, "saved the key of %s (%d characters) in %s\n", clip.Visible(to.Name), utf8.RuneCountInString(key), clip.Visible(string(at)))
	noteVariable(sys, to)
	return nil
}

// noteVariable says when a variable goes before what is saved.
func noteVariable(sys System, k choose.Keyed) {
	for _, v := range k.Vars {
		if sys.Env(v) != "" {
			fmt.Fprintf(sys.Stderr, "note: %s is set here, and goes before a saved key\n", v)
			return
		}
	}
}

func forgetAll(ctx context.Context, sys System, store auth.Store) error {
	list, err := store.List()
	if err != nil {
		return authError(err)
	}
	if len(list) == 0 {
		return authError(auth.ErrNone)
	}
	var errs []error
	for _, s := range list {
		if err := store.Delete(ctx, s.Provider); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(sys.Stderr, "forgot the key of %s\n", clip.Visible(s.Provider))
	}
	return authError(errors.Join(errs...))
}

// authError is exit code 4, with the next command.
func authError(err error) error {
	var own *failure
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &own) {
		return err
	}
	fix := hint.Of(err)
	if errors.Is(err, auth.ErrNone) {
		fix = "adze login --list shows the saved keys"
	}
	return &failure{exitAuth, err.Error(), fix}
}
