package setting

// All are the settings of the list.
func All() map[string]Kind { return kinds() }
