#include "textflag.h"

#define SYS_clone 56

// func clone(flags uintptr) (pid, e uintptr)
//
// The new process goes on first, on the same stack: so the address to return to is
// not on it meanwhile.
TEXT ·clone(SB),NOSPLIT|NOFRAME,$0-24
	MOVQ	flags+0(FP), DI
	MOVQ	$0, SI
	MOVQ	$0, DX
	MOVQ	$0, R10
	MOVQ	$0, R8
	MOVQ	$SYS_clone, AX
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	CMPQ	AX, $0xfffffffffffff001
	JLS	ok
	NEGQ	AX
	MOVQ	$0, pid+8(FP)
	MOVQ	AX, e+16(FP)
	RET
ok:
	MOVQ	AX, pid+8(FP)
	MOVQ	$0, e+16(FP)
	RET
