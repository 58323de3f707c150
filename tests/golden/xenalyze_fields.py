#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare who runs (see xenalyze_compare.py) and field values, record by record, with what xenalyze prints.

Usage: xenalyze_fields.py DIRECTORY NAME=HZ...

DIRECTORY/NAME.json comes from "kshark-virt dump --format json", DIRECTORY/NAME.txt from "xenalyze
--dump-all", both with the frequency HZ. Every line must be of a kind that is listed below and fit a
record with its pCPU and time (see xenalyze.py) that no other line took; every record must be
printed, but for those in UNPRINTED. An event that the traces have and no line ever fitted is a
failure, too, and so is one whose payload we have no layout for.
"""
import collections
import gc
import re
import sys

import xenalyze
import xenalyze_compare

# Line kinds: xenalyze's text as a regular expression, our event, what is meant by missing parts.
# In the text <name:T> stands for the field "name", T for how xenalyze writes it:
#   d  decimal                      D  d1v2 for the fields NAMEdomid and NAMEvcpu
#   i  decimal of 32 unsigned bits  V  d1v2 for a field that has both
#   h  decimal of 16 signed bits    %  the share 100 * name / 2^wshift
#      that it takes for unsigned   P  decimal of 32 bits without bit 31, which is set
#   x  hexadecimal                  S  its symbol, which our info text has as name=SYMBOL
#   u  microseconds with ns         N  its symbol, which our info text has in parentheses
#   B yes|no  one text if the field is true, the other if it is not
#   E list    the index in a list of ENUMS
# <W name:bits ...> stands for raw words of the payload, lowest first; <M ...>, highest first;
# <Q ...> for a deadline and a budget of 64 bits, lowest first.
HYPERCALL = r"hypercall +<op:x> \(<op:N>\)"
ANY_SLICE = {"slice": lambda n: n <= 0 or n >= 2**31}
KINDS = [
    (r"lost_records count <lost_records:d> <:D> \(cur d\S+\) first_tsc <first_tsc:d>",
     "lost_records"),
    (r"runstate_change <vcpu:V> <old:S>-><new:S>", "*_to_*"),
    (r"runstate_continue <vcpu:V> running->running", "continue_running"),
    (r"sched_init_domain d<domid:d>", "sched_add_domain"),
    (r"sched_destroy_domain d<domid:d>", "sched_rem_domain"),
    (r"vcpu_sleep <:D>", "domain_sleep"),
    (r"vcpu_wake <:D>", "domain_wake"),
    (r"vcpu_yield <:D>", "do_yield"),
    (r"vcpu_block <:D>", "do_block"),
    (r"sched_shutdown <:D>, reason = <reason:d>", "domain_shutdown"),
    (r"sched_shutdown_code <:D>, reason = <reason:d>", "domain_shutdown_code"),
    (r"sched_adjust d<domid:d>", "sched_adjdom"),
    (r"sched_switch prev <prev_:D> next <next_:D>", "__enter_scheduler"),
    (r"sched_switch prev <:D>, run for <runtime:u>", "switch_infprev"),
    (r"sched_switch next <:D>(?:, was runnable for <waited:u>)?(?:, next slice <slice:u>)?",
     "switch_infnext", {"waited": 0, **ANY_SLICE}),
    (r"sched_switch continue <:D>, run for <runtime:u>(?:, next slice <slice:u>)?",
     "switch_infcont", ANY_SLICE),

    (r"csched:sched_tasklet", "csched:sched_tasklet"),
    (r"csched:acct_start <:D>, active_vcpus <active:d>", "csched:account_start"),
    (r"csched:acct_stop <:D>, active_vcpus <active:d>", "csched:account_stop"),
    (r"csched:stolen_vcpu <:D> from cpu <from:d>", "csched:stolen_vcpu"),
    (r"csched:pick_cpu <cpu:d> for <:D>", "csched:picked_cpu"),
    (r"csched:runq_tickle, cpu <cpu:d>", "csched:tickle"),
    (r"csched: <:D> boosted", "csched:boost"),
    (r"csched: <:D> unboosted", "csched:unboost"),
    (r"csched:schedule cpu <cpu:d><tasklet:B , tasklet scheduled|><idle:B , idle|, busy>",
     "csched:schedule"),
    (r"csched:ratelimit, <vcpu:V> run only <runtime:u>", "csched:ratelimit"),
    (r"csched:load_balance <checked:B checking|skipping> <peer_cpu:d>", "csched:steal_check"),

    (r"csched2:runq_insert <vcpu:V>, position <pos:d>", "csched2:runq_pos"),
    (r"csched2:burn_credits <vcpu:V>, credit = <credit:d>, (?:budget = <budget:d>, )?"
     r"delta = <delta:d>", "csched2:credit_burn", {"budget": -2**31}),
    (r"csched2:tickle_check <vcpu:V>, credit = <credit:d>, score = <score:d>",
     "csched2:tickle_check"),
    (r"csched2:runq_tickle cpu <cpu:d>", "csched2:tickle"),
    (r"csched2:reset_credits <vcpu:V>, credit_start = <cr_start:d>, credit_end = <cr_end:d>",
     "csched2:credit_reset"),
    (r"csched2:sched_tasklet", "csched2:sched_tasklet"),
    (r"csched2:update_load", "csched2:update_load"),
    (r"csched2:runq_assign <vcpu:V> on rq# <rq_id:d>", "csched2:runq_assign"),
    (r"csched2:update_vcpu_load <vcpu:V>, vcpu_load = <vcpuload:%>% \(<vcpuload:d>\)",
     "csched2:updt_vcpu_load"),
    (r"csched2:update_rq_load rq# <rq_id:d>, load = <rq_load:d>, "
     r"avgload = <rq_avgload:%>% \(<rq_avgload:d>\), "
     r"b_avgload = <b_avgload:%>% \(<b_avgload:d>\)", "csched2:updt_runq_load"),
    (r"csched2:runq_tickle_new <vcpu:V>, processor = <processor:d>, credit = <credit:d>",
     "csched2:tickle_new"),
    (r"csched2:update_max_weight rq# <rq_id:d>, max_weight = <max_weight:d>",
     "csched2:runq_max_weight"),
    (r"csched2:migrate <vcpu:V> rq# <rq_id:d> --> rq# <trq_id:d>", "csched2:migrate"),
    (r"csched2:load_balance_check lrq# <lrq_id:d>, orq# <orq_id:d>, delta = <delta:d>",
     "csched2:load_check"),
    (r"csched2:load_balance_begin lrq# <lrq_id:d>, avg_load = <l_bavgload:d> -- "
     r"orq# <orq_id:d>, avg_load = <o_bavgload:d>", "csched2:load_balance"),
    (r"csched2:picked_cpu <vcpu:V>, rq# <rq_id:h>, cpu <new_cpu:d>", "csched2:pick_cpu"),
    (r"csched2:runq_candidate <vcpu:V>, credit = <credit:d>, "
     r"(?:no cpu was tickled|cpu <tickled_cpu:d> was tickled)", "csched2:runq_candidate",
     {"tickled_cpu": -1}),
    (r"csched2:schedule cpu <cpu:d>, rq# <rq_id:d><tasklet:B , tasklet scheduled|>"
     r"<idle:B , idle|, busy>(?:, SMT <smt_idle:B idle|busy>)?, <tickled:B tickled|not tickled>",
     "csched2:schedule"),
    (r"csched2:ratelimit, <vcpu:V> run only <runtime:u>", "csched2:ratelimit"),
    (r"csched2:runq_cand_check <vcpu:V>", "csched2:runq_cand_chk"),

    (r"rtds:runq_tickle cpu <cpu:d>", "rtds:tickle"),
    (r"rtds:runq_pick <vcpu:V>, deadline = <cur_deadline:d>, budget = <cur_budget:d>",
     "rtds:runq_pick"),
    (r"rtds:burn_budget <vcpu:V>, budget = <cur_budget:d>, delta = <delta:d>", "rtds:burn_budget"),
    # It does not know of priority_level (Xen 4.10), hence reads the rest one word too early.
    (r"rtds:repl_budget <vcpu:V>, <Q priority_level:32 cur_deadline:64 cur_budget:32>",
     "rtds:repl_budget"),
    (r"rtds:sched_tasklet", "rtds:sched_tasklet"),
    # It takes idle for tickled and the other way round: Xen has tickled in the lower bits.
    (r"rtds:schedule cpu <cpu:d>, <tasklet:B , tasklet scheduled|><tickled:B , idle|, busy>"
     r"<idle:B , tickled|, not tickled>", "rtds:schedule"),

    (r"null:picked_cpu <vcpu:V>, cpu <new_cpu:d>", "null:pick_cpu"),
    (r"null:vcpu_assign <vcpu:V> to cpu <cpu:d>", "null:assign"),
    (r"null:vcpu_deassign <vcpu:V> from cpu <cpu:d>", "null:deassign"),
    (r"null:migrate <vcpu:V>, cpu <cpu:d>, new_cpu <new_cpu:d>", "null:migrate"),
    (r"null:schedule cpu <cpu:d><tasklet:B , tasklet scheduled|>(?:, vcpu <vcpu:V>|, no vcpu)",
     "null:schedule", {"vcpu": lambda n: n & 0xffff == 0xffff}),
    (r"null:sched_tasklet", "null:sched_tasklet"),

    (r"creating domain d<domid:d>", "domain_create"),
    (r"destroying domain d<domid:d>", "domain_destroy"),

    (r"vmentry(?: cycles \d+ !?)?", "vmentry"),
    (r"vmexit exit_reason (?:VMEXIT_)?<exit_reason:S> eip <eip:x>", "vmexit"),
    (r"vmexit exit_reason (?:VMEXIT_)?<exit_reason:S> eip <rip:x>", "vmexit64"),
    # of a later Xen
    (r"vmexit exit_reason (?:VMEXIT_)?<exit_reason:S> eip <rip:x>", "svm_vmexit64"),
    (r"pf_inject guest_cr2 <address:x>  guest_ec <errorcode:x>", "pf_inject"),
    (r"pf_inject64 guest_cr2 <address:x>  guest_ec <errorcode:x>", "pf_inject64"),
    (r"inj_exc trap \S+ ec <errorcode:x>", "inj_exc"),
    (r"inj_virq vec <vector:d>  <fake:B fake|real>", "inj_virq"),
    (r"io read port <port:x> val <data:x>", "ioport_read"),
    (r"io write port <port:x> val <data:x>", "ioport_write"),
    (r"io_assist \[ <W port:32 data:32>\]", "ioport_read"),
    (r"hvm_handler 534 \[ <W port:32 data:32>\]", "ioport_write"),
    (r"cr_write cr<cr:d> val <value:x>(?: oval [0-9a-f]+ \w+)?", "cr_write*"),
    (r"cr_read64 \[ <W cr:32 value:64>\]", "cr_read64"),
    (r"cr_read \[ <W cr:32 value:32>\]", "cr_read"),
    (r"msr_read addr <msr:x> val <value:x>", "msr_read"),
    (r"msr_write addr <msr:x> val <value:x>", "msr_write"),
    (r"cpuid \[ <W leaf:32 subleaf:32 eax:32 ebx:32 ecx:32 edx:32>\]", "cpuid"),
    (r"cpuid \[ <W leaf:32 eax:32 ebx:32 ecx:32 edx:32>\]", "cpuid"),
    (r"intr vec 0", "intr", {"vector": lambda n: True}),    # --svm-mode has it print 0 always
    (r"nmi \[ \]", "nmi"),
    (r"smi \[ \]", "smi"),
    (r"vmcall +<func:x> \(<func:N>\)", "vmmcall"),
    (r"vmcall +<func:x>", "vmmcall"),
    (r"hlt \[ <W intpending:32>\]", "hlt"),
    (r"invlpg \[ <W invlpga:32 address:32>\]", "invlpg"),
    (r"invlpg64 \[ <W invlpga:32 address:64>\]", "invlpg64"),
    (r"mmio_assist r gpa <address:x> data <data:x>", "mmio_read*"),
    (r"mmio_assist w gpa <address:x> data <data:x>", "mmio_write*"),
    (r"mmio_assist r gpa <address:x> \(no data\)", "mmio_read*"),
    (r"mmio_assist w gpa <address:x> \(no data\)", "mmio_write*"),
    (r"clts \[ \]", "clts"),
    (r"lmsw \[ <W value:32>\]", "lmsw"),
    (r"lmsw64 \[ <W value:64>\]", "lmsw64"),
    (r"rdtsc <value:x> <value:d>(?: BACKWARDS)?", "rdtsc"),
    (r"intr_window vec <vector:d> src <source:d>\(\w+\) intr (?:<injecting:x>|#)",
     "intr_window", {"injecting": lambda n: n <= 0}),
    (r"npf gpa <gpa:x> q <qualification:x> mfn <mfn:x> t <p2mt:d>", "npf"),
    (r"realmode_emulate \[ \]", "realmode_emulate"),
    (r"trap \[ <W vector:32>\]", "hvm_trap"),
    (r"trap_debug \[ <W exit_qualification:32>\]", "hvm_trap_debug"),
    (r"vlapic \[ \]", "vlapic"),
    (r"hvm_handler 38 \[ <W xcr:32 value:64>\]", "xcr_read64"),
    (r"hvm_handler 39 \[ <W xcr:32 value:64>\]", "xcr_write64"),

    (r"grant-map domain <domid:d>", "page_grant_map"),
    (r"grant-unmap domain <domid:d>", "page_grant_unmap"),
    (r"grant-transfer domain <domid:d>", "page_grant_transfer"),
    (r"set_p2m_entry d<domid:d> o<order:d> t <p2mt:d> g <gfn:x> m <mfn:x>", "set_p2m_entry"),
    (r"decrease_reservation d<domid:d> o<order_4_17:d> g <gfn:x>", "decrease_reservation"),
    (r"pod_populate d<domid:d> o<order_4_17:d> g <gfn:x> m <mfn:x>", "pod_populate"),
    (r"pod_zero_reclaim d<domid:d> o<order_4_17:d> g <gfn:x> m <mfn:x> ctx \S+",
     "pod_zero_reclaim"),
    (r"pod_spage_splinter d<domid:d> g <gfn:x>", "pod_superpage_splinter"),

    (r"trap <trapnr:x> eip <rip:x>(?: ec <error_code:x>)?", "trap64"),
    (r"trap <trapnr:x> eip <eip:x>(?: ec <error_code:x>)?", "trap"),
    (r"page_fault\[ <W eip:32 addr:32 error_code:32>\]", "page_fault"),
    (r"page_fault\[ <W rip:64 addr:64 error_code:32>\]", "page_fault64"),
    (r"forced_invalid_op\[ <W eip:32>\]", "forced_invalid_op"),
    (r"forced_invalid_op\[ <W rip:64>\]", "forced_invalid_op64"),
    (r"emulate privop\[ <W eip:32>\]", "emulate_privop"),
    (r"emulate privop\[ <W rip:64>\]", "emulate_privop64"),
    (r"math state restore", "math_state_restore"),
    (r"paging fixup\[ <W eip:32 addr:32>\]", "paging_fixup"),
    (r"paging fixup\[ <W rip:64 addr:64>\]", "paging_fixup64"),
    (r"gdt/ldt mapping fault\[ <W eip:32 offset:32>\]", "gdt_ldt_mapping_fault"),
    (r"gdt/ldt mapping fault\[ <W rip:64 offset:64>\]", "gdt_ldt_mapping_fault64"),
    (r"ptwr l1e <npte:x> eip <rip:x> addr <addr:x>", "ptwr_emulation64"),
    (r"ptwr l1e <npte:x> eip <eip:x> addr <addr:x>", "ptwr_emulation_pae"),
    # the sub-calls of a multicall are indented by one blank
    *((blank + text, event) for blank, event in (("", "hypercall"), (" ", "hypercall_subcall"))
      for text in (
          r"hypercall +<op:x>",
          r"hypercall +<op:x> \((?!mmu_update|mmuext_op|multicall|vcpu_op|grant_table_op|sched_op)"
          r"<op:N>\)",
          HYPERCALL + r" <a1:i> (?:updates|ops|calls)",
          HYPERCALL + r" <a1:P> updates \(preempted\)",
          HYPERCALL + r" <a0:E vcpu_op> vcpu <a1:i>",
          HYPERCALL + r" <a0:E grant_table_op> <a2:i> ops",
          HYPERCALL + r" <a0:E sched_op>")),

    (r"pm_freq_change o<old_mhz:d> n<new_mhz:d>", "cpu_freq_change"),
    (r"pm_idle_start c<cstate:d>", "cpu_idle_entry"),
    (r"pm_idle_end c<cstate:d>", "cpu_idle_exit"),
    (r"irq_handled irq <irq:x> -?\d+ \(<tsc_in:i>,<tsc_out:i>\)", "do_irq"),
    (r"irq_bind_vector irq <irq:x> vec <vector:x> mask <M cpus_0:64 cpus_64:64>", "bind_vector"),
    (r"irq_assign_vector irq <irq:x> vec <vector:x> mask <M cpus_0:64 cpus_64:64>",
     "assign_vector"),
    (r"irq_move_cleanup_delay irq <irq:x> vec <vector:x> cpu <cpu:d>", "cleanup_move_delayed"),
    (r"irq_move_cleanup irq <irq:x> vec <vector:x> cpu <cpu:d>", "cleanup_move"),
    (r"irq_unmapped_vector vec <vector:x>", "bogus_vector"),
    (r" *802004\(8:2:4\) 7 \[ <W irq:16 vector:16 cpus_0:64 cpus_64:64 cpus_128:64>\]",
     "clear_vector"),
    (r" *802005\(8:2:5\) 3 \[ <W irq:32 vector:32 cpu:32>\]", "move_vector"),
]

ENUMS = {
    "sched_op": "yield block shutdown poll remote_shutdown shutdown_code watchdog",
    "vcpu_op": "initialise up down is_up get_runstate_info register_runstate_memory_area "
               "set_periodic_timer stop_periodic_timer set_singleshot_timer stop_singleshot_timer "
               "register_vcpu_info send_nmi get_physid register_vcpu_time_memory_area",
    "grant_table_op": "map_grant_ref unmap_grant_ref setup_table dump_table transfer copy "
                      "query_size unmap_and_replace set_version get_status_frames get_version "
                      "swap_grant_ref",
}

# Hypercalls that xenalyze calls by another name than Xen's headers.
ALIASES = {"evtchn_op": "event_channel_op", "acm_op": "xsm_op"}

# Fields that Xen leaves out with some values.
OPTIONAL = {"vector"}

# Lines that are not about one record, and why they say nothing about fields.
IGNORED = [
    (r"Creating (vcpu|domain) .*", "its own bookkeeping"),
    (r"(scan_for_new_pcpu|process_cpu_change|init_pcpus|read_record|deactivate_pcpu): .*",
     "its own bookkeeping"),
    (r"Using first_tsc for .*", "its own bookkeeping"),
    (r"Changing p\d+ current to d\d+v\d+", "its own bookkeeping"),
    (r"First schedule for \S+ doesn't take us into a running state; leaving (in )?INIT",
     "the trace begins in the middle"),
    (r"(process_lost_records|sched_runstate_process|lose_vcpu): .*", "what a loss means to it"),
    (r" {10,}[-|x.lL]+ lost_records end .*", "its own estimate of when a loss ended"),
    (r" *\[(vla|w2h)\] .*", "its own view of interrupts, made from records that have their lines"),
    (r"  Interrupt \d+ clearing start_tsc \d+", "the same"),
    (r"hvm_generic_postprocess: Strange, exit \S+ missing a handler", "only its statistics"),
    (r"Unknown hvm event: 840[01][0-9a-f]|WARNING: We don't yet analyze HVM_EMUL events\.",
     "new in Xen 4.5, but not in xenalyze"),
    (r"", "empty"),
]

# Events that xenalyze is silent about, and why.
UNPRINTED = {
    "hpet_create hpet_destroy pit_create pit_destroy pit_callback rtc_create rtc_destroy "
    "vlapic_create vlapic_destroy vlapic_callback vpic_update_int_output vpic_vcpu_kick "
    "vpic_intack vpic_irq_positive_edge vpic_irq_negative_edge vpic_ack_pending_irq "
    "vlapic_accept_pic_intr": "unknown to it",
    "wrap_buffer cpu_change": "no events to it",
    "sched_ctl s_timer_fn t_timer_fn dom_timer_fn": "skipped by it",
}

# What the T of <name:T> looks like.
TEXTS = {
    "d": r"(-?\d+)", "i": r"(-?\d+)", "h": r"(\d+)", "P": r"(-?\d+)", "x": r"([0-9a-f]+)",
    "u": r"(\d+\.\d+)us",
    "%": r"(\d+\.\d+)", "D": r"(d\d+v\d+)", "V": r"(d\d+v\d+)", "S": r"([^\s>(-]+)",
    "N": r"([^\s()]+)", "E": r"(\w+)",
}

TOKEN = re.compile(r"<(?:(\w*):|(?=[WMQ] ))([%dihxuDVSNPBEWMQ])(?: ([^>]*))?>")
WORD = re.compile(r"[\w:]*")


class Kind:
    """A row of KINDS, compiled."""

    def __init__(self, text, event, absent=None):
        self.text, self.absent, self.word = text, absent or {}, WORD.match(text)[0]
        self.is_event = re.compile(event.replace("*", r"\w*")).fullmatch
        self.parts = []
        self.match = re.compile(TOKEN.sub(self.token, text)).fullmatch

    def token(self, m):
        name, how, more = m.groups()
        if how in "WMQ":
            more = [(field, int(bits)) for field, bits in (x.split(":") for x in more.split())]
            text = (r"(deadline = \d+, budget = \d+)" if how == "Q" else
                    r"((?:[0-9a-f]+ *){%d})" % (sum(bits for _, bits in more) // 32))
        elif how == "B":
            more = more.split("|")
            text = "(%s)" % "|".join(map(re.escape, more))
        else:
            text = TEXTS[how]
        self.parts.append((name, how, more))
        return text

    def wanted(self, m):
        """What a match says: {field: value or predicate}, [predicate for the record]"""
        fields, checks = {}, []
        for (name, how, more), text in zip(self.parts, m.groups()):
            if text is None:
                continue
            if how == "d":
                fields[name] = int(text)
            elif how == "i":
                fields[name] = int(text) % 2**32
            elif how == "h":
                fields[name] = (int(text) ^ 2**15) - 2**15
            elif how == "P":
                fields[name] = int(text) + 2**31
            elif how == "x":
                fields[name] = int(text, 16)
            elif how == "u":
                us, ns = text.split(".")
                fields[name] = int(us) * 1000 + int(ns)
            elif how == "D":
                fields[name + "domid"], fields[name + "vcpu"] = map(int, text[1:].split("v"))
            elif how == "V":
                domid, vcpu = map(int, text[1:].split("v"))
                fields[name] = domid << 16 | vcpu
            elif how == "B":
                fields[name] = int(text == more[0])
            elif how == "E":
                fields[name] = ENUMS[more].split().index(text)
            elif how in "WMQ":
                if how == "Q":
                    words = [int(half) for half in re.findall(r"\d+", text)]
                else:
                    words = [int(word, 16) for word in text.split()][::1 if how == "W" else -1]
                size = 64 if how == "Q" else 32
                number = sum(word << size * i for i, word in enumerate(words))
                for field, bits in more:
                    fields[field] = number % 2**bits
                    number >>= bits
            elif how == "%":
                checks.append(lambda row, name=name, text=text: text == "%4.3f" % (
                    row["fields"][name] * 100.0 / (1 << row["fields"]["wshift"])))
            else:
                symbol = re.escape(ALIASES.get(text, text))
                said = r"=%s(?: |$)" % symbol if how == "S" else r"=\S+ \(%s\)" % symbol
                checks.append(lambda row, said=r"(?:^| )" + name + said: re.search(
                    said, row["info"]))
        return {**self.absent, **fields}, checks


def fits(row, fields, checks):
    for name, wanted in fields.items():
        value = row["fields"].get(name)
        if value is None and name in OPTIONAL:
            continue
        if value is None or not (wanted(value) if callable(wanted) else wanted == value):
            return False
    return all(check(row) for check in checks)


def find(said, rows, kinds):
    """The kind and the record that a line fits, and whether its text has a kind."""
    possible = False
    for kind in kinds:
        m = kind.match(said.text)
        if not m:
            continue
        possible = True
        fields, checks = kind.wanted(m)
        for row in rows:
            if kind.is_event(row["event"]) and fits(row, fields, checks):
                return kind, row, True
    return None, None, possible


def main():
    directory, names = sys.argv[1], sys.argv[2:]
    kinds = [Kind(*row) for row in KINDS]
    by_word = {}        # kinds by the first word of a line, for speed
    ignored = [re.compile(text).fullmatch for text, _ in IGNORED]
    silent = " ".join(UNPRINTED).split()
    lines, records, printed = (collections.Counter() for _ in range(3))
    failures = 0

    def fail(*what):
        nonlocal failures
        failures += 1
        if failures < 20:
            print(*what)

    # millions of small objects, and no rings of them
    gc.disable()
    for name, hz in (words.split("=") for words in names):
        rows = xenalyze.ours("%s/%s.json" % (directory, name), int(hz))
        for row in (row for same in rows.values() for row in same):
            records[row["event"]] += 1
            if row["event"].startswith("0x") or any(f.startswith("extra") for f in row["fields"]):
                fail(name, "unknown event or layout:", row)
        all_said = list(xenalyze.theirs("%s/%s.txt" % (directory, name)))
        print("%s:" % name)
        failures += xenalyze_compare.compare(rows, all_said)
        for said in all_said:
            if not said.key:
                if not any(match(said.line) for match in ignored):
                    fail(name, "not a kind of line that is known:", said.line)
                continue
            candidates = rows.get(said.key, [])
            word = WORD.match(said.text)[0]
            if word not in by_word:
                by_word[word] = [k for k in kinds if word.startswith(k.word)]
            kind, row, possible = find(said, candidates, by_word[word])
            if kind:
                candidates.remove(row)
                lines[kind] += 1
                printed[row["event"]] += 1
            elif possible:
                fail(name, "no record of ours says so:", said.line, *(
                    "\n    " + row["event"] + " " + row["info"] for row in candidates))
            else:
                fail(name, "not a kind of line that is known:", said.line)
        left = [row for same in rows.values() for row in same if row["event"] not in silent]
        for row in left:
            fail(name, "xenalyze does not print this:", row)
    for event in records:
        if event not in printed and event not in silent:
            fail("no line ever fitted this event:", event)
    for kind in kinds:
        if lines[kind]:
            print("%8d  %s" % (lines[kind], kind.text))
    print("%d lines of %d kinds, %d records of %d events, failures %d" % (
        sum(lines.values()), len(lines), sum(records.values()), len(records), failures))
    return failures > 0 or not lines


sys.exit(main())
