"""A stream that drifts twice, explained as it goes: `ipdp demo`.

The stream is the paper's: loan decisions of the Agrawal generator. In the first third they depend
on age and education; then the rule changes to age and salary (a real drift); in the last third the
rule stays but salaries rise (a virtual drift). Everything is generated, nothing is downloaded.
"""

from ipdp.demo.show import N_LEAST, N_QUICK, N, demonstrate

__all__ = ["N_LEAST", "N_QUICK", "N", "demonstrate"]
