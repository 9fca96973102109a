package daemon

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"serin/probe/fakellm"
)

// beFake makes the test binary a fake endpoint in a process of its own, so that its work is not counted as the daemon's.
const beFake = "SERIN_TEST_BE_FAKE"

func TestMain(m *testing.M) {
	if os.Getenv(beFake) != "" {
		serveFake()
		return
	}
	os.Exit(m.Run())
}

// serveFake prints its address and serves until it is killed.
func serveFake() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: fakellm.New(fakellm.Options{Keep: -1,
		Default: fakellm.Behaviour{TTFT: 300 * time.Millisecond, TPOT: 20 * time.Millisecond, Jitter: 0.05, OutputTokens: 130}})}
	panic(srv.Serve(l))
}
