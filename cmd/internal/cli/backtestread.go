package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"serin/alert/replay"
	"serin/baseline/store"
	"serin/probe"
)

// readTape reads JSON lines, decoded on all cores and added in the file's order. The error names the first bad line.
func readTape(ctx context.Context, r io.Reader, name string) (*replay.Tape, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := startDecoding(ctx, r)
	tape := replay.NewTape()
	var bad error
	for c := range d.inOrder {
		<-c.done
		if bad != nil {
			continue // it was under way
		}
		tape.Add(c.samples...)
		if c.bad.err != nil {
			bad = fmt.Errorf("%s line %d: %w", name, c.bad.line, c.bad.err)
			stop()
		}
		d.reuse(c.samples)
	}
	d.workers.Wait()
	switch {
	case bad != nil:
		return nil, bad
	case d.err != nil:
		return nil, fmt.Errorf("read %s: %w", name, d.err)
	}
	return tape, nil
}

// decoding is a file on its way through the decoders.
type decoding struct {
	inOrder chan *chunk // each as it was read, perhaps not decoded yet; closed at the end
	work    chan *chunk // the same ones
	workers sync.WaitGroup
	used    chan []probe.Sample
	err     error // of reading; once inOrder is closed
}

func startDecoding(ctx context.Context, r io.Reader) *decoding {
	cores := runtime.GOMAXPROCS(0)
	d := &decoding{inOrder: make(chan *chunk, 2*cores), work: make(chan *chunk), used: make(chan []probe.Sample, 2*cores)}
	for range cores {
		d.workers.Go(func() {
			for c := range d.work {
				c.decode()
			}
		})
	}
	go func() {
		d.err = cutChunks(ctx, r, func(c *chunk) error { return d.give(ctx, c) })
		close(d.work)
		close(d.inOrder)
	}()
	return d
}

func (d *decoding) give(ctx context.Context, c *chunk) error {
	select {
	case c.samples = <-d.used:
	default:
	}
	select {
	case d.inOrder <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	d.work <- c
	return nil
}

// reuse takes back room that nobody needs any more.
func (d *decoding) reuse(room []probe.Sample) {
	select {
	case d.used <- room[:0]:
	default:
	}
}

// chunk is whole lines of a file, and what they hold once they are decoded.
type chunk struct {
	text    []byte
	line    int // number of the first one
	samples []probe.Sample
	bad     badLine
	done    chan struct{} // closed then
}

type badLine struct {
	line int
	err  error
}

// decode makes samples of the lines, up to the first bad one.
func (c *chunk) decode() {
	defer close(c.done)
	n := c.line - 1
	for line := range bytes.Lines(c.text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		s, err := decodeSample(line)
		if err != nil {
			c.bad = badLine{n, err}
			return
		}
		c.samples = append(c.samples, s)
	}
}

// chunkSize is how much of a file one decoder takes at once.
const chunkSize = 256 << 10

// cutChunks gives away what r has in chunks of whole lines.
func cutChunks(ctx context.Context, r io.Reader, give func(*chunk) error) error {
	in := bufio.NewReaderSize(r, chunkSize)
	line := 1
	var text []byte
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		piece, err := in.ReadSlice('\n')
		text = append(text, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(text) > maxLine+chunkSize {
				return fmt.Errorf("line %d or one soon after is longer than %d bytes", line, maxLine)
			}
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		if len(text) >= chunkSize || err != nil {
			if err := give(&chunk{text: text, line: line, done: make(chan struct{})}); err != nil {
				return err
			}
			line += bytes.Count(text, []byte{'\n'})
			text = make([]byte, 0, chunkSize+len(piece))
		}
		if err != nil {
			return nil
		}
	}
}

// storeTape reads samples from a store.
func storeTape(ctx context.Context, st *store.Store, q store.Query) (*replay.Tape, error) {
	tape := replay.NewTape()
	for s, err := range st.Samples(ctx, q) {
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		tape.Add(s)
	}
	return tape, nil
}
