// SPDX-License-Identifier: Apache-2.0

// Says whether the history on the standard input is linearizable: whether each operation could have
// taken effect at one moment between its begin and its end. ../record.cpp describes the input.
// Exit status: 0 if it is, 1 if it is not, 2 if that cannot be said.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

// For one key; a history that needs longer is no answer.
const limit = 60 * time.Second

// What a key has.
type value struct {
	exists bool
	number int64
}

type operation struct {
	key      int
	name     string
	argument int64
}

// The result of an operation on `was`, and what the key has after it.
func apply(was value, what operation) (result string, next value) {
	written := value{true, what.argument}
	truth := map[bool]string{false: "0", true: "1"}
	switch what.name {
	case "get":
		return text(was), was
	case "put":
		return truth[!was.exists], written
	case "insert":
		if was.exists {
			return "0", was
		}
		return "1", written
	case "erase":
		return truth[was.exists], value{}
	case "add":
		sum := value{true, was.number + what.argument}
		return text(sum), sum
	case "move":
		return "0", was
	case "exchange":
		return text(was), written
	}
	fail("no operation is called " + what.name)
	return "", was
}

func text(of value) string {
	if !of.exists {
		return "none"
	}
	return strconv.FormatInt(of.number, 10)
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, "check: "+why)
	os.Exit(2)
}

func read() (first value, history []porcupine.Operation) {
	lines := bufio.NewScanner(os.Stdin)
	if !lines.Scan() {
		fail("there is no history")
	}
	if lines.Text() != "none" {
		number, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			fail("the first line is no value: " + lines.Text())
		}
		first = value{true, number}
	}
	for lines.Scan() {
		var what operation
		var one porcupine.Operation
		var result string
		_, err := fmt.Sscan(lines.Text(), &one.ClientId, &what.key, &what.name, &what.argument,
			&one.Call, &one.Return, &result)
		if err != nil {
			fail("no operation: " + lines.Text())
		}
		one.Input, one.Output = what, result
		history = append(history, one)
	}
	if len(history) == 0 {
		fail("there are no operations")
	}
	return first, history
}

func byKey(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	places := map[int]int{}
	for _, one := range history {
		key := one.Input.(operation).key
		place, known := places[key]
		if !known {
			place = len(parts)
			places[key] = place
			parts = append(parts, nil)
		}
		parts[place] = append(parts[place], one)
	}
	return parts
}

func main() {
	first, history := read()
	model := porcupine.Model{
		Partition: byKey,
		Init:      func() interface{} { return first },
		Step: func(state, input, output interface{}) (bool, interface{}) {
			result, next := apply(state.(value), input.(operation))
			return result == output.(string), next
		},
	}
	switch porcupine.CheckOperationsTimeout(model, history, limit) {
	case porcupine.Ok:
		fmt.Printf("%d operations are linearizable\n", len(history))
	case porcupine.Illegal:
		fmt.Printf("%d operations are not linearizable\n", len(history))
		os.Exit(1)
	default:
		fail("the search took longer than " + limit.String())
	}
}
