# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""check_pins: whether a pin set can work, judged offline. From the pins' text to refusals, warnings and notes; time comes in as an argument."""
