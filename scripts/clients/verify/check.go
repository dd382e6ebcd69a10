package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// One case a line, separated by tabs: secret, id, timestamp, signature, svc, now, body in base64. Says what is right.
func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		field := strings.Split(lines.Text(), "\t")
		given := map[string]string{
			"webhook-id":        field[1],
			"webhook-timestamp": field[2],
			"webhook-signature": field[3],
			"X-SVC-Signature":   field[4],
		}
		headers := func(name string) string { return given[name] }
		now, err := strconv.ParseInt(field[5], 10, 64)
		if err != nil {
			panic(err)
		}
		body, err := base64.StdEncoding.DecodeString(field[6])
		if err != nil {
			panic(err)
		}
		svc := VerifySvc(field[0], headers, body)
		fmt.Println(svc, VerifyStandard(field[0], headers, body, time.Unix(now, 0)))
	}
}
