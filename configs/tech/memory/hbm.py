#!/usr/bin/env python3
"""Runs Ramulator 2.1 on the access patterns of an RPU and writes `hbm.csv`, a row for each run.

    hbm.py RAMULATOR_ROOT WORKDIR hbm.csv [--part MEMORY]

RAMULATOR_ROOT is a built checkout of CMU-SAFARI/ramulator2, commit c5b1c3a.

One channel is simulated (two pseudo channels); the channels of a stack behave alike, since a transfer of 4 KiB or more is
spread evenly over them. `batch_bytes` is the size of a transfer over CHANNELS channels, so each channel sees
batch_bytes / CHANNELS of it.

Requests come in order (a DMA engine): one that finds its queue full holds up those behind it.

Layout of a region within a channel, from the lowest address bit: pseudo channel, bank group, column, bank, row, so that
consecutive bursts go to the four bank groups of both pseudo channels, and a row is used up before the next. With `skew` the
last bank bit of the writer's region is inverted.
"""
import csv
import os
import random
import sys

ROOT, WORK, OUT = sys.argv[1:4]
ONLY = sys.argv[sys.argv.index("--part") + 1] if "--part" in sys.argv else None
sys.path.insert(0, os.path.join(ROOT, "python"))
import ramulator  # noqa: E402

FIELDS = ("memory org refresh scheduler read_queue write_queue row_policy pattern reads_per_write batch_bytes channels "
          "placement peak_gb_s share").split()

MEMORY = {  # class, timing, channels of the interface that the batch sizes refer to, default organisation, controller
    "hbm2-2000": ("HBM2", "HBM2_2000Mbps", 16, "HBM2_8Gb", "HBM12", 64),
    "hbm2-2400": ("HBM2", "HBM2_2400Mbps", 16, "HBM2_8Gb", "HBM12", 64),
    "hbm3-6400": ("HBM3", "HBM3_6400Mbps", 16, "HBM3_16Gb_8hi", "HBM34", 128),
}


class Channel:
    """Addresses of one channel; the mapper ChRaBaRoCo cuts a flat address into the fields from the top."""

    def __init__(self, dram):
        org, timing = dram.resolve()
        cls = type(dram)
        self.prefetch = cls.internal_prefetch_size
        self.levels = [l.lower() for l in cls.levels][1:]
        self.size = {l: org.get(l, 1) for l in self.levels}
        self.size["column"] //= self.prefetch
        self.tick = getattr(cls, "tick_multiplier", 1)
        self.tck = timing["tCK_ps"] / 1000 / self.tick
        self.burst = org["channel_width"] * self.prefetch // 8
        self.peak = org["pseudochannel"] * org["channel_width"] * timing["rate"] / 8 / 1000

    def flat(self, f):
        a = 0
        for l in self.levels:
            a = a * self.size[l] + f.get(l, 0)
        return a * self.burst

    def split(self, i, order):
        f = {}
        for l in order:
            f[l] = i % self.size[l]
            i //= self.size[l]
        return f

    def stream(self, i, base_row, skew=0, order=None):
        order = order or [l for l in ("pseudochannel", "bankgroup", "sid", "column", "bank", "row") if l in self.size]
        f = self.split(i, order)
        f["row"] = (f["row"] + base_row) % self.size["row"]
        f["bank"] ^= skew
        return self.flat(f)


def trace(ch, pattern, rpw, batch, channels, placement, n, rng):
    """Yields (is_write, address) of n requests."""
    skew = 2 if placement == "skew" else 0
    half = ch.size["row"] // 2
    per = max(1, batch // channels // ch.burst) if batch else 0
    r = w = 0
    out = []
    if pattern in ("read", "write"):
        out = [(pattern == "write", ch.stream(i, 0)) for i in range(n)]
    elif pattern == "mixed":  # per request
        while len(out) < n:
            for _ in range(rpw):
                out.append((False, ch.stream(r, 0))); r += 1
            out.append((True, ch.stream(w, half, skew))); w += 1
    elif pattern == "batched":
        while len(out) < n:
            for _ in range(rpw * per):
                out.append((False, ch.stream(r, 0))); r += 1
            for _ in range(per):
                out.append((True, ch.stream(w, half, skew))); w += 1
    elif pattern in ("gather", "scatter"):  # batch is the size of a piece, which lies in one row
        bursts = max(1, batch // ch.burst)
        total = 1
        for l in ch.levels:
            total *= ch.size[l]
        order = [l for l in ("column", "pseudochannel", "bankgroup", "sid", "bank", "row") if l in ch.size]
        while len(out) < n:
            g = rng.randrange(total // bursts) * bursts
            for k in range(bursts):
                out.append((pattern == "scatter", ch.flat(ch.split(g + k, order))))
    return out[:n]


def run(memory, pattern, rpw=0, batch=0, org=None, refresh="allbank", wq=None, rq=None, policy="open", placement="same", n=60000,
        scheduler="FRFCFSRowHit"):
    cls, timing, channels, default_org, controller, queue = MEMORY[memory]
    org, wq, rq = org or default_org, wq or 64, rq or queue
    dram = getattr(ramulator.dram, cls)(org_preset=org, timing_preset=timing)
    ch = Channel(dram)
    if pattern == "batched":  # at least 6 turns
        per = batch // channels // ch.burst
        n = max(n, 6 * (rpw + 1) * per)
    path = os.path.join(WORK, "trace.txt")
    with open(path, "w") as f:
        f.write("".join("%s %d\n" % ("ST" if w else "LD", a)
                        for w, a in trace(ch, pattern, rpw, batch, channels, placement, n, random.Random(1))))
    rm = ramulator.refresh_manager
    refresher = {"none": rm.NoRefresh, "allbank": rm.AllBank,
                 "perbank": rm.HBM34PerBankRefresh if controller == "HBM34" else rm.PerBank}[refresh]()
    rp = ramulator.row_policy
    ctrl = getattr(ramulator.controller, controller)(
        dram=dram, scheduler=getattr(ramulator.scheduler, scheduler)(), row_policy=rp.Open() if policy == "open" else rp.ClosedCAP(cap=int(policy[3:])),
        addr_mapper=ramulator.addr_mapper.ChRaBaRoCo(), refresh_manager=refresher, read_buffer_size=rq, write_buffer_size=wq)
    mem = ramulator.memory_system.GenericDRAM(clock_ratio=1, controllers=[ctrl],
                                              channel_mapper=ramulator.channel_mapper.CacheLineInterleave())
    sim = ramulator.Simulation(ramulator.frontend.LoadStoreTrace(clock_ratio=8, path=path), mem)
    sim.run()
    c = sim.stats["memory_system"]["controller"]
    if isinstance(c, list):
        c = c[0]
    g = lambda *names: next((c[k] for k in names if k in c), "")
    reads, writes = int(g("num_read_reqs_served")), int(g("num_write_reqs_served"))
    cycles = int(g("cycles", "measured_cycles", "num_cycles", "memory_cycles") or 0)
    gbs = (reads + writes) * ch.burst / (cycles * ch.tck) if cycles else 0
    row = dict(memory=memory, org=org, refresh=refresh, scheduler=scheduler, read_queue=rq, write_queue=wq, row_policy=policy,
               pattern=pattern, reads_per_write=rpw or "", batch_bytes=batch or "", channels=channels, placement=placement,
               peak_gb_s="%.2f" % ch.peak, share="%.4f" % (gbs / ch.peak))
    return row, c


def plan():
    for m in MEMORY:
        orgs = {"hbm2-2000": ("HBM2_4Gb", "HBM2_8Gb"), "hbm2-2400": ("HBM2_8Gb",), "hbm3-6400": ("HBM3_16Gb_8hi",)}[m]
        for org in orgs:
            for refresh in ("none", "allbank", "perbank"):
                k = dict(memory=m, org=org, refresh=refresh)
                yield dict(k, pattern="read")
                yield dict(k, pattern="write")
                for rpw in (3, 2, 1):
                    yield dict(k, pattern="mixed", rpw=rpw)
                for size in (32, 64, 128, 256):
                    yield dict(k, pattern="gather", batch=size)
                if org != orgs[-1] and refresh != "allbank":
                    continue
                for rpw in (3, 2, 1):
                    for b in (4 << 10, 16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20):
                        yield dict(k, pattern="batched", rpw=rpw, batch=b)
        k = dict(memory=m, org=orgs[-1])
        for b in (4 << 10, 64 << 10, 512 << 10, 1 << 20):
            yield dict(k, pattern="batched", rpw=1, batch=b, placement="skew", refresh="none")
        for rpw in (3, 2, 1):
            yield dict(k, pattern="mixed", rpw=rpw, placement="skew", refresh="none")
            for wq in (16, 32, 128, 256, 512):
                yield dict(k, pattern="mixed", rpw=rpw, wq=wq, refresh="none")
        for size in (32, 64):
            yield dict(k, pattern="scatter", batch=size)
            for policy in ("cap1", "cap2"):
                yield dict(k, pattern="gather", batch=size, policy=policy)
            yield dict(k, pattern="gather", batch=size, rq=256)
            yield dict(k, pattern="gather", batch=size, scheduler="FRFCFS")


def main():
    new = not os.path.exists(OUT)
    have = set()
    if not new:
        have = {tuple(r[k] for k in FIELDS[:12]) for r in csv.DictReader(open(OUT))}
    with open(OUT, "a", newline="") as f:
        w = csv.DictWriter(f, FIELDS, lineterminator="\n")
        if new:
            w.writeheader()
        for p in plan():
            if ONLY and p["memory"] != ONLY:
                continue
            row, _ = run(**p)
            if tuple(str(row[k]) for k in FIELDS[:12]) in have:
                continue
            w.writerow(row)
            f.flush()


if __name__ == "__main__":
    main()
