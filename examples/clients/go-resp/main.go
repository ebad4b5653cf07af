// Limits by leases over the Redis protocol: go run . <port> <user> <requests>
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// Weir is one connection. Of several goroutines each needs its own.
type Weir struct {
	conn net.Conn
	in   *bufio.Reader
}

// Call sends a command and returns its reply, an array as its elements.
func (w *Weir) Call(words ...string) ([]string, error) {
	if err := w.conn.SetDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		return nil, err
	}
	message := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		message += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(w.conn, message); err != nil {
		return nil, err
	}
	return w.reply()
}

func (w *Weir) reply() ([]string, error) {
	line, err := w.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, rest := line[0], line[1:len(line)-2]
	n, _ := strconv.Atoi(rest)
	switch kind {
	case '*':
		var all []string
		for i := 0; i < n; i++ {
			each, err := w.reply()
			if err != nil {
				return nil, err
			}
			all = append(all, each...)
		}
		return all, nil
	case '$':
		text := make([]byte, n+2)
		_, err := io.ReadFull(w.in, text)
		return []string{string(text[:n])}, err
	case ':':
		return []string{rest}, nil
	}
	return nil, fmt.Errorf("%s", rest)
}

// Limit is what is known of one key: a lease, or a refusal. Not for several goroutines.
type Limit struct {
	weir                      *Weir
	domain, key, value        string
	lease, onFailure          string
	left, given, ahead, calls int
	begun, ends               time.Time
	refusedUntil, retryAt     time.Time
}

// Allow returns whether one request may pass, and after which time it makes sense to try again.
func (l *Limit) Allow() (bool, time.Duration) {
	now := time.Now() // Comparisons use its monotonic reading.
	if now.Before(l.refusedUntil) {
		return false, l.retryAt.Sub(now) // It is kept for 30 s at most, and may be true for longer.
	}
	if l.left > 0 && now.Before(l.ends) {
		l.left--
		return true, 0
	}
	allowed, retry, err := l.ask(now)
	if err != nil {
		return l.onFailure == "allow", time.Second
	}
	return allowed, retry
}

func (l *Limit) ask(sent time.Time) (bool, time.Duration, error) {
	if l.left == 0 && sent.Before(l.begun.Add(l.ends.Sub(l.begun)/2)) {
		l.ahead = 2 * l.ahead
	} else {
		l.ahead = max(1, min(l.ahead, l.given-l.left)/2)
	}
	l.Close()
	l.calls++
	r, err := l.weir.Call("WEIR.LEASE", l.domain, "1", strconv.Itoa(l.ahead), l.key, l.value)
	if err != nil {
		return false, 0, err
	}
	l.lease, l.left, l.given, l.begun, l.onFailure = r[7], number(r[8]), number(r[8]), sent, r[11]
	life := time.Duration(number(r[9])) * time.Microsecond
	l.ends = sent.Add(life - max(time.Millisecond, life/100))
	l.refusedUntil = sent.Add(time.Duration(number(r[10])) * time.Millisecond)
	retry := time.Duration(number(r[3])) * time.Millisecond
	l.retryAt = sent.Add(retry)
	return r[0] == "1", retry, nil
}

// Close gives back what is left, once.
func (l *Limit) Close() {
	lease, left := l.lease, l.left
	l.lease, l.left = "", 0
	if lease != "" {
		_, _ = l.weir.Call("WEIR.RETURN", lease, strconv.Itoa(left)) // If it is lost, let it be.
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func main() {
	conn, err := net.Dial("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	limit := &Limit{weir: &Weir{conn, bufio.NewReader(conn)}, domain: "clients", key: "user", value: os.Args[2], ahead: 1}
	requests, allowed := number(os.Args[3]), 0
	var retry time.Duration
	for i := 0; i < requests; i++ {
		passes, wait := limit.Allow()
		if retry = wait; passes {
			allowed++
		}
	}
	limit.Close()
	fmt.Printf("allowed %d, refused %d, calls %d, retry after %.1f s\n", allowed, requests-allowed, limit.calls, retry.Seconds())
}
