package placetest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// Play is what the test binary does when it is started as a server of the suite: call it first in TestMain, with the program's arguments.
// It returns false when the binary is to run its tests.
func Play(args []string) bool {
	if len(args) < 3 || args[1] != playWord {
		return false
	}
	play(args[2], args[3:])
	return true
}

const playWord = "placetest"

// lifetime bounds what a part lives if a place fails to end it.
const lifetime = time.Minute

// play is one part: args are the port and, for some, more.
func play(part string, args []string) {
	switch part {
	case "server": // answers on its port until SIGTERM
		serve(args[0])
	case "stubborn": // the same, but SIGTERM does nothing
		signal.Ignore(syscall.SIGTERM)
		serve(args[0])
	case "family": // answers, with a child below it and one in a session of its own
		spawn(false, "idle")
		spawn(true, "deaf")
		serve(args[0])
	case "leader": // ends at once and leaves its child behind
		spawn(true, "deaf")
	case "idle":
		fmt.Println("pid", os.Getpid())
		<-time.After(lifetime)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("pid", os.Getpid())
		<-time.After(lifetime)
	case "exit": // says something and exits with a status
		fmt.Println("it cannot work: secret-word")
		code, _ := strconv.Atoi(args[1])
		os.Exit(code)
	case "environment":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	}
}

func serve(port string) {
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("pid", os.Getpid())
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, os.Getpid()) }), ReadHeaderTimeout: lifetime}
	time.AfterFunc(lifetime, func() { os.Exit(0) })
	_ = server.Serve(l)
}

// spawn starts a part below this process.
func spawn(session bool, part string) {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe, playWord, part, "0")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}
