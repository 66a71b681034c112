// Package changed tells when a file changed last, as the system keeps it. It
// reads nothing: callers ask for the file's information themselves.
package changed
