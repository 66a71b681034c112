#include "textflag.h"

#define SYS_clone 220

// func clone(flags uintptr) (pid, e uintptr)
//
// The new process goes on first, on the same stack: the address to return to is in a
// register meanwhile.
TEXT ·clone(SB),NOSPLIT,$0-24
	MOVD	flags+0(FP), R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$SYS_clone, R8
	SVC
	CMN	$4095, R0
	BCC	ok
	NEG	R0, R0
	MOVD	ZR, pid+8(FP)
	MOVD	R0, e+16(FP)
	RET
ok:
	MOVD	R0, pid+8(FP)
	MOVD	ZR, e+16(FP)
	RET
