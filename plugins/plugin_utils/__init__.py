# Copyright: (c) 2026, The goldnode founders
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller only. An installed collection brings no Python packages, so the first import says in one sentence what is missing."""

from __future__ import annotations

from importlib.util import find_spec

from ansible.errors import AnsibleError

# package -> name on PyPI
NEEDED = {"debian": "python-debian", "filelock": "filelock", "jsonschema": "jsonschema", "prometheus_client": "prometheus-client", "sqlalchemy": "sqlalchemy"}

missing = [name for package, name in NEEDED.items() if find_spec(package) is None]
if missing:
    raise AnsibleError(
        f"goldnode.gpu needs Python packages beside ansible-core on the controller, missing: {', '.join(missing)}. Install: pip install {' '.join(missing)}"
    )
