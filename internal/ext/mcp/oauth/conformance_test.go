package oauth

func conformanceClient() int { return 1 }
