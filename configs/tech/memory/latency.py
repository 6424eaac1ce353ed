#!/usr/bin/env python3
"""Latency of a random read beside a stream, against the stream's load, by Ramulator's own front end.

    latency.py RAMULATOR_ROOT latency.csv

The latency is that of device and queue. The PHY, the controller's pipeline and the way to the VDM come on top.
"""
import csv
import os
import sys

ROOT, OUT = sys.argv[1:3]
sys.path[:0] = [os.path.join(ROOT, "python"), ROOT]
import ramulator  # noqa: E402
from tests.utils import extract_dram_layout  # noqa: E402

MEMORY = {"hbm2-2000": ("HBM2", "HBM2_2000Mbps", "HBM2_8Gb", "HBM12", 64), "hbm2-2400": ("HBM2", "HBM2_2400Mbps", "HBM2_8Gb", "HBM12", 64),
          "hbm3-6400": ("HBM3", "HBM3_6400Mbps", "HBM3_16Gb_8hi", "HBM34", 128)}
with open(OUT, "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow("memory org refresh read_pct interval share_of_peak probe_latency_ns".split())
    for name, (cls, timing, org, ctrl_name, queue) in MEMORY.items():
        for refresh in ("none", "allbank"):
            for rr in (100, 67):
                for nop in (4000, 400, 120, 60, 40, 32, 28, 24, 22, 20, 19, 18, 17, 16, 14, 12, 8, 1):
                    dram = getattr(ramulator.dram, cls)(org_preset=org, timing_preset=timing)
                    o, t = dram.resolve()
                    tick = getattr(type(dram), "tick_multiplier", 1)
                    tck = t["tCK_ps"] / 1000 / tick
                    peak = o["pseudochannel"] * o["channel_width"] * t["rate"] / 8 / 1000
                    front = ramulator.frontend.LatencyThroughputTrace(
                        clock_ratio=16, nop_counter=nop, num_probe_requests=1500 if nop < 400 else 800, latency_sample_count=1500 if nop < 400 else 800,
                        warmup_cycles=10000, seed=7, read_ratio=rr, stream_cls=32, stagger_stream_rows=True, **extract_dram_layout(dram))
                    rm = ramulator.refresh_manager
                    c = getattr(ramulator.controller, ctrl_name)(
                        dram=dram, scheduler=ramulator.scheduler.FRFCFSRowHit(), row_policy=ramulator.row_policy.Open(),
                        addr_mapper=ramulator.addr_mapper.PassThroughAddrMapper(), refresh_manager=rm.AllBank() if refresh == "allbank" else rm.NoRefresh(),
                        read_buffer_size=queue, write_buffer_size=64)
                    sim = ramulator.Simulation(front, ramulator.memory_system.GenericDRAM(
                        clock_ratio=1, controllers=[c], channel_mapper=ramulator.channel_mapper.PassThroughChannelMapper()))
                    sim.run()
                    s = sim.stats
                    m = s["memory_system"]["controller"]
                    m = m[0] if isinstance(m, list) else m
                    w.writerow([name, org, refresh, rr, nop, "%.4f" % (float(m["total_throughput_MBps"]) / 1000 / peak),
                                "%.1f" % (float(s["frontend"]["avg_probe_latency"]) * tck)])
                    f.flush()
