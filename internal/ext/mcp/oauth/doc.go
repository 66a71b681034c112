// Package oauth signs people in to MCP servers: the authorization of MCP's HTTP
// transports, in the revisions 2025-03-26 to 2026-07-28, which is OAuth 2.1 with
// what a server and its authorization server say about themselves (RFC 9728,
// RFC 8414, OpenID Connect Discovery). A Client holds the tokens of a process. In
// the background it uses and refreshes what is there and never opens a browser;
// Login is for a person.
//
// Where a server's metadata lead is decided by strangers. So every address is
// checked before it is dialled (see reach), no answer is longer than a bound, no
// request with a secret follows a redirect, and no text of an error holds a
// token, a code, a secret or a verifier.
//
// A connection has a Handler, which gives each request its token and answers 401 and 403.
// Where a person is needed, the error is an *ErrNeedsSignIn, and Client.Login with a Browser
// answers it. A renewal is shared by the calls of a process, is made under a lease by one
// process at a time, and outlives the call that wanted it, because a refresh token counts
// once. Before a person is asked, the token of the refused request is compared with the saved
// one: another process may have renewed it.
//
// web.go bounds where requests may go by what a person wrote: metadata of a server on the
// internet lead to no private network, those of a private network not to this machine, and
// link-local addresses are refused. The address that was checked is the address that is
// dialled. docs/decisions/015-mcp-sdk.md says which part is the SDK's.
package oauth
