# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What check_pins knows: tables only, each with its source and the date on which it was collected. What rules on nodes know too is in module_utils."""
