//go:build linux && (amd64 || arm64 || riscv64 || ppc64le || s390x || loong64)

package probe

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket reads a TCP socket together with the kernel's time of receipt (SO_TIMESTAMPNS, recvmsg). The closures and the
// message header are made once, so that a read allocates nothing. One goroutine reads at a time, and one writes.
type socket struct {
	raw  syscall.RawConn
	addr net.Addr
	rtt  Span // of the handshake; unknown where its first packet was sent twice

	msg   unix.Msghdr
	iov   unix.Iovec
	oob   [128]byte
	n     int
	errno syscall.Errno
	recv  func(fd uintptr) bool

	out     []byte
	sent    int
	sendErr error
	stamp   func()
	send    func(fd uintptr) bool
}

// keepStamping makes the kernel stamp packets until the function it returns is called. The kernel begins to stamp a moment
// after the first socket asks for it, so without this the first packets of a lone connection carry none.
func keepStamping() (stop func()) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return func() {} // reads are stamped when they return until the kernel has begun
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) // as above
	return func() { _ = unix.Close(fd) }
}

// openSocket returns c as a stamping socket, or nil where it is none.
func openSocket(c net.Conn) *socket {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || set != nil {
		return nil
	}
	s := &socket{raw: raw, addr: c.RemoteAddr()}
	_ = raw.Control(func(fd uintptr) { // without it the round trip is unknown
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil && info.Rtt > 0 {
			s.rtt = Known(time.Duration(info.Rtt) * time.Microsecond)
		}
	})
	s.recv, s.send = s.recvmsg, s.sendAll
	return s
}

// read is Read with the kernel's stamp in ns since 1970, 0 where the kernel gave none.
func (s *socket) read(p []byte) (n int, wall int64, err error) {
	s.iov.Base = &p[0]
	s.iov.SetLen(len(p))
	err = s.raw.Read(s.recv)
	s.iov.Base = nil
	switch {
	case err != nil:
		return 0, 0, err
	case s.errno != 0:
		return 0, 0, s.fail("read", os.NewSyscallError("recvmsg", s.errno))
	case s.n == 0:
		return 0, 0, io.EOF
	}
	return s.n, s.wall(), nil
}

func (s *socket) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: s.addr, Err: err}
}

// recvmsg is one try; false means that nothing is there yet. It cannot block, so the scheduler need not be told of it: telling
// wakes the thread that watches over system calls, which costs more than all else that is done for an event that comes alone.
func (s *socket) recvmsg(fd uintptr) bool {
	s.msg.Iov, s.msg.Iovlen = &s.iov, 1
	s.msg.Control = &s.oob[0]
	s.msg.SetControllen(len(s.oob))
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.msg)), unix.MSG_DONTWAIT)
		switch errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		}
		s.n, s.errno = int(n), errno
		return true
	}
}

// wall finds the time stamp among the control messages.
func (s *socket) wall() int64 {
	oob := s.oob[:min(int(s.msg.Controllen), len(s.oob))]
	head := unix.CmsgLen(0)
	if len(oob) < head+16 {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&oob[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	sec := int64(binary.NativeEndian.Uint64(oob[head:]))
	nsec := int64(binary.NativeEndian.Uint64(oob[head+8:]))
	return sec*1e9 + nsec
}

// write writes p whole and calls stamp before each system call.
func (s *socket) write(p []byte, stamp func()) (int, error) {
	s.out, s.sent, s.sendErr, s.stamp = p, 0, nil, stamp
	err := s.raw.Write(s.send)
	s.out, s.stamp = nil, nil
	if err == nil && s.sendErr != nil {
		err = s.fail("write", os.NewSyscallError("write", s.sendErr))
	}
	return s.sent, err
}

// sendAll writes until all is out or the socket's buffer is full; false means wait.
func (s *socket) sendAll(fd uintptr) bool {
	for s.sent < len(s.out) {
		s.stamp()
		n, err := unix.Write(int(fd), s.out[s.sent:])
		switch err {
		case nil:
			s.sent += n
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			s.sendErr = err
			return true
		}
	}
	return true
}
