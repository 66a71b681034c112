//go:build !race

package event_test

// room is what the line of a text may take, in halves of its length.
const room = 7
