# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How nodes differ from their release, and what moved them. Judging is pure; the controller reads and writes."""
