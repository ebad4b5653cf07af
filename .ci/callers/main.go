// go-redis as its users set it up: one command, a pipeline, a transaction.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	defer client.Close()
	call := []any{"CL.THROTTLE", "go", 4, 5, 60}
	first, err := client.Do(ctx, call...).Slice()
	expect("one call", err, first, 0)
	for what, run := range map[string]func(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error){
		"a pipeline": client.Pipelined, "a transaction": client.TxPipelined} {
		commands, err := run(ctx, func(pipe redis.Pipeliner) error {
			pipe.Do(ctx, call...)
			pipe.Do(ctx, call...)
			return nil
		})
		for _, command := range commands {
			reply, each := command.(*redis.Cmd).Slice()
			if err == nil {
				err = each
			}
			expect(what, err, reply, 0)
		}
	}
	last, err := client.Do(ctx, call...).Slice()
	expect("the sixth of five", err, last, 1)
	fmt.Println("go-redis " + redis.Version())
}

func expect(what string, err error, reply []any, limited int64) {
	if err != nil || len(reply) != 5 || !reflect.DeepEqual(reply[0], limited) {
		fmt.Fprintf(os.Stderr, "go-redis: %s: %v %v (expected: %d first of five)\n", what, reply, err, limited)
		os.Exit(1)
	}
}
