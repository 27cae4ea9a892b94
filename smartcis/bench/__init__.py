"""Benches: ratios and latencies measured side by side in one run, printed as one JSON object."""
