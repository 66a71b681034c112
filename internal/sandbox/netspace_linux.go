package sandbox

import (
	"context"
	"errors"
	"os"
)

type netspace struct{ enter string }

func (b *bubblewrap) network(context.Context) error       { return nil }
func (n *netspace) open() (user, net *os.File, err error) { return nil, nil, errors.ErrUnsupported }
func (n *netspace) close() error                          { return nil }
