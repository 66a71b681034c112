package checkpoint

// Looked reports whether anything is known of a tree.
func Looked(t *Tree) bool { return t.folders != nil }
