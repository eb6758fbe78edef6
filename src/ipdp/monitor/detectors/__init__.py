"""River's drift detectors on one statistic of each curve: `Monitor(statistic=...)`."""
