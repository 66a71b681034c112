package ask

// AllNames are the names of all queries.
func AllNames() (out []string) {
	for _, k := range codec.Kinds {
		out = append(out, k.Name)
	}
	return out
}
