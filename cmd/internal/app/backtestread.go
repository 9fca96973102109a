package app

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

// readTape reads JSON lines on all cores. The error names the first bad line.
func readTape(ctx context.Context, r io.Reader, name string) (*replay.Tape, error) {
	tape := replay.NewTape()
	chunks := make(chan chunk, 4)
	var mu sync.Mutex
	var bad badLine
	failed := func(b badLine) {
		mu.Lock()
		defer mu.Unlock()
		if bad.err == nil || b.line < bad.line {
			bad = b
		}
	}
	var decoding sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		decoding.Go(func() {
			var samples []probe.Sample
			for c := range chunks {
				if b := c.decode(&samples); b.err != nil {
					failed(b)
				}
				tape.Add(samples...)
			}
		})
	}
	err := cutChunks(ctx, r, chunks)
	close(chunks)
	decoding.Wait()
	switch {
	case bad.err != nil:
		return nil, fmt.Errorf("%s line %d: %w", name, bad.line, bad.err)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return tape, nil
}

// chunk is whole lines of a file.
type chunk struct {
	text []byte
	line int // number of the first one
}

type badLine struct {
	line int
	err  error
}

// decode makes samples of the lines, in place of what was in into.
func (c chunk) decode(into *[]probe.Sample) badLine {
	*into = (*into)[:0]
	n := c.line - 1
	for line := range bytes.Lines(c.text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		s, err := decodeSample(line)
		if err != nil {
			return badLine{n, err}
		}
		*into = append(*into, s)
	}
	return badLine{}
}

// chunkSize is how much of a file one decoder takes at once.
const chunkSize = 256 << 10

// cutChunks sends what r has in chunks of whole lines.
func cutChunks(ctx context.Context, r io.Reader, to chan<- chunk) error {
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
			to <- chunk{text, line}
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
