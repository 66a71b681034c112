package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/auth"
)

// TestConformance runs the scenarios of authorization of the official suite (the
// npm package @modelcontextprotocol/conformance, from 0.1.16 on, with Node 22)
// against a client that uses this package. ADZE_MCP_CONFORMANCE is the path of its
// dist/index.js; ADZE_NODE is node, where it is not in PATH.
func TestConformance(t *testing.T) {
	suite := os.Getenv("ADZE_MCP_CONFORMANCE")
	if suite == "" {
		t.Skip("ADZE_MCP_CONFORMANCE is not set")
	}
	node := os.Getenv("ADZE_NODE")
	if node == "" {
		node = "node"
	}
	list, err := exec.Command(node, suite, "list", "--client").Output()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, m := range regexp.MustCompile(`(?m)^\s*- (auth/\S+)`).FindAllStringSubmatch(string(list), -1) {
		ran++
		t.Run(m[1], func(t *testing.T) {
			t.Parallel() // most of the time node starts
			cmd := exec.CommandContext(t.Context(), node, suite, "client", "--command", os.Args[0], "--scenario", m[1], "--timeout", "20000", "--output-dir", t.TempDir())
			cmd.Env = append(os.Environ(), "ADZE_OAUTH_TEST=conformance", "ADZE_OAUTH_DIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if ran == 0 {
		t.Errorf("no scenarios in %s", list)
	}
}

// conformanceClient signs in where it must and calls every tool.
func conformanceClient() int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := Settings{Name: "conformance", ServerURL: os.Args[len(os.Args)-1]}
	var given struct {
		ClientID string `json:"client_id"`
		Secret   string `json:"client_secret"`
		Key      string `json:"private_key_pem"`
		IdP      string `json:"idp_issuer"`
		IdPID    string `json:"idp_client_id"`
		IdPToken string `json:"idp_token_endpoint"`
		ID       secret `json:"idp_id_token"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	s.ClientID, s.ClientSecretRef, s.PrivateKeyRef = given.ClientID, given.Secret, given.Key
	c := New(Config{
		Store: auth.Store{Dir: os.Getenv("ADZE_OAUTH_DIR")}, Version: "test", ClientDocument: "https://conformance-test.local/client-metadata.json",
		Secret: func(_ context.Context, ref string) (string, error) { return ref, nil },
	})
	defer c.Close()
	switch {
	case strings.Contains(scenario, "client-credentials"):
		s.Flow = Credentials
	case given.IdP != "":
		s.Flow, s.IdP = CrossApp, IdP{Issuer: given.IdP, ClientID: given.IdPID}
		if err := c.write(ctx, s.IdP.key(), record{Issuer: given.IdP, Token: given.IdPToken, ClientID: given.IdPID, ID: given.ID}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := conform(ctx, c, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func conform(ctx context.Context, c *Client, s Settings) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "adze", Version: "test"}, nil)
	var session *mcp.ClientSession
	if err := signingIn(ctx, c, s, func() (err error) {
		session, err = client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.ServerURL, OAuthHandler: c.Handler(s)}, nil)
		return err
	}); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer session.Close()
	var tools *mcp.ListToolsResult
	if err := signingIn(ctx, c, s, func() (err error) { tools, err = session.ListTools(ctx, nil); return err }); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	for _, tool := range tools.Tools {
		if err := signingIn(ctx, c, s, func() error {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: map[string]any{}})
			return err
		}); err != nil {
			return fmt.Errorf("call %s: %w", tool.Name, err)
		}
	}
	return nil
}

// signingIn does what a person does who is told to sign in.
func signingIn(ctx context.Context, c *Client, s Settings, do func() error) error {
	for range 3 {
		err := do()
		if err == nil || needs(err) == nil {
			return err
		}
		if err := c.Login(ctx, s, &robot{}); err != nil {
			return err
		}
	}
	return do()
}
