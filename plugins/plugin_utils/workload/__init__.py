# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The workload linter: Compose files and Kubernetes manifests in, what is wrong with their GPU requests out (docs/workloads.md)."""
