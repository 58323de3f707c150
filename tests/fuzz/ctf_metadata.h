/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	ctf_metadata.h
 * @brief	Metadata in CTF 1.8 as LTTng writes it, and an event with fields of all types.
 */
#ifndef KSHARK_VIRT_CTF_METADATA_H
#define KSHARK_VIRT_CTF_METADATA_H

static const char ctf_metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"trace {\n"
	" major = 1; minor = 8; uuid = \"00010203-0405-0607-0809-0a0b626f782d\"; "
		"byte_order = le;\n"
	" packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t "
		"stream_id; };\n"
	"};\n"
	"env { hostname = \"box\"; domain = \"kernel\"; sysname = \"Linux\"; "
		"kernel_release = \"6.1.0\";\n"
	" tracer_name = \"lttng-modules\"; tracer_major = 2; tracer_minor = 13; };\n"
	"clock { name = \"monotonic\"; freq = 1000000000; offset = "
		"1700000000000000000; };\n"
	"typealias integer { size = 64; align = 8; signed = false; map = "
		"clock.monotonic.value; } := time_t;\n"
	"struct context { time_t timestamp_begin; time_t timestamp_end; uint64_t "
		"content_size; uint64_t packet_size;\n"
	" uint64_t events_discarded; uint32_t cpu_id; };\n"
	"struct pair { uint32_t _a; uint32_t _b; };\n"
	"struct header { uint32_t id; time_t timestamp; };\n"
	"stream { id = 0; event.header := struct header; packet.context := struct "
		"context; };\n"
	"event { name = \"sched_switch\"; id = 0; stream_id = 0; fields := struct { "
		"integer { size = 8; align = 8; signed = 1; encoding = UTF8; } "
		"_prev_comm[16]; integer { size = 32; align = 8; signed = 1; } _prev_tid; "
		"integer { size = 32; align = 8; signed = 1; } _prev_prio; integer { size = "
		"64; align = 8; signed = 1; } _prev_state; integer { size = 8; align = 8; "
		"signed = 1; encoding = UTF8; } _next_comm[16]; integer { size = 32; align = "
		"8; signed = 1; } _next_tid; integer { size = 32; align = 8; signed = 1; } "
		"_next_prio; }; };\n"
	"event { name = \"kvm_x86_entry\"; id = 1; stream_id = 0; fields := struct { "
		"integer { size = 32; align = 8; signed = 0; } _vcpu_id; }; };\n"
	"event { name = \"kvm_x86_exit\"; id = 2; stream_id = 0; fields := struct { "
		"integer { size = 32; align = 8; signed = 0; } _exit_reason; integer { size "
		"= 64; align = 8; signed = 0; } _guest_rip; integer { size = 32; align = 8; "
		"signed = 0; } _isa; integer { size = 64; align = 8; signed = 0; } _info1; "
		"integer { size = 64; align = 8; signed = 0; } _info2; }; };\n"
	"stream { id = 1; event.header := struct header; packet.context := struct "
		"context; };\n"
	"event { name = \"irq_handler_entry\"; id = 3; stream_id = 1; fields := "
		"struct { integer { size = 32; align = 8; signed = 1; } _irq; string _name; "
		"}; };\n"
	"event { name = \"odd\"; id = 4; stream_id = 0; fields := struct { "
		"floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _f;\n"
	" enum : uint8_t { ONE = 1, TWO = 2 } _e; struct pair _p; uint32_t _n; "
		"uint32_t _list[2]; variant <_e> { uint8_t ONE; uint32_t TWO; } _v; string "
		"_s; }; };\n";

#endif
