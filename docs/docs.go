// Package docs is the manual of this version, for whoever answers questions about it. The
// pages are in the program as they are: packed they would save 0.16 MB, and be one more
// file to be written anew with each change of a page.
package docs

import "embed"

// Pages are the pages of the manual, Markdown files without folders.
//
//go:embed *.md
var Pages embed.FS
