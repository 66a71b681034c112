// Package wire owns what every model provider needs beneath its own format:
// one HTTP attempt with a watchdog, a server-sent-event reader, a scanner for
// small JSON events, the assembly of a reply from deltas, the repair of a
// history for another reader, and the naming of failures. It knows no
// provider's request format, never retries, reads no environment and holds no
// global client.
package wire
