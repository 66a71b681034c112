package search

func isLoop(error) bool { return false }
