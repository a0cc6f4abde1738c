# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The ledger of an environment: releases, channels, slots, and an append-only chain of events, in one SQLite file."""
