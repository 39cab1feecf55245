"""Means, sums and variances: noise on moments of constant norm."""
