// SPDX-License-Identifier: GPL-2.0-only

// Views prints how Go itself names code, one address a line: ADDRESS FUNCTION FILE LINE, parted by tabs. Without an argument it
// is the runtime's view of this program: FUNCTION is the innermost one, perhaps inlined. With the name of an ELF file it is
// debug/gosym's view of that file: FUNCTION is the one that has the code. Addresses are those of the file; behind it, - stands for
// those that standard input has, one a line.
package main

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
)

const step = 23 // bytes from one address to the next

func open(path string) (file *elf.File, text *elf.Section) {
	file, err := elf.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	if text = file.Section(".text"); text == nil {
		log.Fatalf("%s: no section .text", path)
	}
	return file, text
}

func show(out *bufio.Writer, address uint64, function, file string, line int) {
	fmt.Fprintf(out, "%x\t%s\t%s\t%d\n", address, function, file, line)
}

// Returns what the loader has added to the addresses of the file.
func bias(file *elf.File) uint64 {
	var begins uint64
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		log.Fatal(err)
	}
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range strings.Split(string(maps), "\n") {
		if strings.HasSuffix(line, path) {
			fmt.Sscanf(line, "%x-", &begins)
			break
		}
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_LOAD {
			return begins - segment.Vaddr
		}
	}
	return begins
}

func runtimeView(out *bufio.Writer) {
	file, text := open("/proc/self/exe")
	added := bias(file)
	for address := text.Addr; address < text.Addr+text.Size; address += step {
		pc := uintptr(address + added)
		function, behind := runtime.FuncForPC(pc), runtime.FuncForPC(pc+1)
		// CallersFrames expects return addresses, which are behind their calls
		if function == nil || behind == nil || function.Entry() != behind.Entry() {
			continue
		}
		frame, _ := runtime.CallersFrames([]uintptr{pc + 1}).Next()
		if frame.Function == "" { // the runtime has no name for the first function of all
			continue
		}
		show(out, address, frame.Function, frame.File, frame.Line)
	}
}

func openTable(path string) *gosym.Table {
	file, text := open(path)
	section := file.Section(".gopclntab")
	if section == nil {
		section = file.Section(".data.rel.ro.gopclntab")
	}
	if section == nil {
		log.Fatalf("%s: no section .gopclntab", path)
	}
	data, err := section.Data()
	if err != nil {
		log.Fatal(err)
	}
	begins := binary.LittleEndian.Uint64(data[24:]) // of Go's text; C code may be before it
	if begins == 0 && file.Section(".init") != nil {
		log.Fatalf("%s: the table does not say where its text begins", path)
	}
	if begins == 0 { // from Go 1.26 on, and Go's linker puts nothing before it
		begins = text.Addr
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, begins))
	if err != nil {
		log.Fatal(err)
	}
	return table
}

func showGosym(out *bufio.Writer, table *gosym.Table, address uint64) {
	if place, line, function := table.PCToLine(address); function != nil {
		show(out, address, function.Name, place, line)
	}
}

func gosymView(out *bufio.Writer, path string) {
	table := openTable(path)
	for _, function := range table.Funcs {
		for address := function.Entry; address < function.End; address += step {
			showGosym(out, table, address)
		}
	}
}

func gosymViewOf(out *bufio.Writer, path string, addresses *bufio.Scanner) {
	table := openTable(path)
	for addresses.Scan() {
		address, err := strconv.ParseUint(addresses.Text(), 16, 64)
		if err != nil {
			log.Fatal(err)
		}
		showGosym(out, table, address)
	}
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch len(os.Args) {
	case 1:
		runtimeView(out)
	case 2:
		gosymView(out, os.Args[1])
	default:
		gosymViewOf(out, os.Args[1], bufio.NewScanner(os.Stdin))
	}
}
