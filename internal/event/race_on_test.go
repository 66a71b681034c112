//go:build race

package event_test

// room is what the line of a text may take, in halves of its length. The race
// detector has pools lose what they hold.
const room = 14
