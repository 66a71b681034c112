//go:build !race

package confedit

const raceDetector = false
