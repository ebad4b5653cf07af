// Limits by leases over gRPC: go run . <port> <user> <requests>
//
// The stubs, from this folder, with protoc, protoc-gen-go and protoc-gen-go-grpc:
//
//	protoc -I ../../../protocol/src/main/proto --go_out=weirpb --go-grpc_out=weirpb --go_opt=Mweir/v1/weir.proto=./\;weirpb \
//	  --go-grpc_opt=Mweir/v1/weir.proto=./\;weirpb weir/v1/weir.proto
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"example.com/weir/grpc/weirpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Limit is what is known of one key: a lease, or a refusal. Not for several goroutines.
type Limit struct {
	weir                  weirpb.WeirClient
	check                 *weirpb.Check
	lease                 uint64
	left, given, ahead    uint64
	calls                 int
	onFailure             weirpb.OnFailure
	begun, ends           time.Time
	refusedUntil, retryAt time.Time
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
	if err != nil { // Not asked again: it may have been charged.
		return l.onFailure == weirpb.OnFailure_ON_FAILURE_ALLOW, time.Second
	}
	return allowed, retry
}

func (l *Limit) ask(sent time.Time) (bool, time.Duration, error) {
	if l.left == 0 && sent.Before(l.begun.Add(l.ends.Sub(l.begun)/2)) {
		l.ahead = 2 * l.ahead
	} else {
		l.ahead = max(1, min(l.ahead, l.given-l.left)/2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	l.calls++
	ask := &weirpb.LeaseAsk{Check: l.check, Ahead: []uint64{l.ahead}}
	reply, err := l.weir.Lease(ctx, &weirpb.LeaseRequest{Returns: l.rest(), Asks: []*weirpb.LeaseAsk{ask}})
	if err != nil {
		return false, 0, err
	}
	result := reply.Grants[0].Result
	if result.Error != "" {
		return false, 0, fmt.Errorf("%s", result.Error)
	}
	lent := reply.Grants[0].Leases[0]
	l.lease, l.left, l.given, l.begun, l.onFailure = lent.Lease, lent.Permits, lent.Permits, sent, lent.OnFailure
	life := time.Duration(lent.LifeUs) * time.Microsecond
	l.ends = sent.Add(life - max(time.Millisecond, life/100))
	l.refusedUntil = sent.Add(time.Duration(lent.RefuseForMs) * time.Millisecond)
	retry := time.Duration(result.GetRetryAfterMs()) * time.Millisecond
	l.retryAt = sent.Add(retry)
	return result.Allowed, retry, nil
}

// rest returns what is to be given back, once.
func (l *Limit) rest() []*weirpb.LeaseReturn {
	lease, left := l.lease, l.left
	l.lease, l.left = 0, 0
	if lease == 0 {
		return nil
	}
	return []*weirpb.LeaseReturn{{Lease: lease, Permits: left}}
}

// Close gives back what is left.
func (l *Limit) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_, _ = l.weir.Lease(ctx, &weirpb.LeaseRequest{Returns: l.rest()}) // If it is lost, let it be.
}

func main() {
	conn, err := grpc.NewClient("127.0.0.1:"+os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	entry := &weirpb.Entry{Key: "user", Value: os.Args[2]}
	check := &weirpb.Check{Domain: "clients", Descriptors: []*weirpb.Descriptor{{Entries: []*weirpb.Entry{entry}}}}
	limit := &Limit{weir: weirpb.NewWeirClient(conn), check: check, ahead: 1}
	requests, _ := strconv.Atoi(os.Args[3])
	allowed := 0
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
