// SPDX-License-Identifier: Apache-2.0

// Native methods of GoProgram, which run on a goroutine's stack: work calls itself, fill makes the heap and the stack grow.
package main

import "C"
import "unsafe"

//export Java_com_incapsula_sampler_testing_GoProgram_work
func Java_com_incapsula_sampler_testing_GoProgram_work(env unsafe.Pointer, class unsafe.Pointer, n C.longlong) C.longlong {
	var sum int64
	for i := int64(0); i < int64(n); i++ {
		sum += descend(i, 3)
	}
	return C.longlong(sum)
}

//go:noinline
func descend(i int64, depth int) int64 {
	if depth == 0 {
		return i*i ^ (i >> 3)
	}
	return descend(i, depth-1) + int64(depth)
}

//export Java_com_incapsula_sampler_testing_GoProgram_fill
func Java_com_incapsula_sampler_testing_GoProgram_fill(env unsafe.Pointer, class unsafe.Pointer, n C.longlong) C.longlong {
	made := map[int64]*[4]int64{}
	for i := int64(0); i < int64(n); i++ {
		made[i%512] = &[4]int64{i, i + 1, i + 2, i + 3}
	}
	var sum int64
	for key, value := range made {
		if value[1] != value[0]+1 || value[3] != value[0]+3 || value[0]%512 != key {
			panic("memory was overwritten")
		}
		sum += value[2]
	}
	return C.longlong(sum)
}

func main() {}
