"""Every job of many exports: read in parts by a pool or a cluster, merged by job, diagnosed, written."""

from analyzer.scanning.run import ScanResult, merge_scans, scan
from analyzer.scanning.settings import Settings

__all__ = ["ScanResult", "Settings", "merge_scans", "scan"]
