package fakellm

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkStream is one whole answer of 160 tokens over loopback, as fast as it goes.
func BenchmarkStream(b *testing.B) {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	b.ReportAllocs()
	for b.Loop() {
		resp, err := server.Client().Post(server.URL+chatPath, "application/json", strings.NewReader(chatBody))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
