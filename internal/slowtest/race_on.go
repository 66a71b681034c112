//go:build race

package slowtest

const race = true
