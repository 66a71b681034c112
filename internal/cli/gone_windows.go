package cli

// gone is not known here before something is written.
func (*Output) gone() bool { return false }
