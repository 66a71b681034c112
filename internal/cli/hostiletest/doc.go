// Package hostiletest holds no code: its tests run the real program in folders
// that were made to attack it, and watch every system call that could start a
// program or reach a network; and they look for planted keys in everything
// the program writes.
package hostiletest
