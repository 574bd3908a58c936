"""Run the `svc` command as a module: `python -m svc_notebook`."""

from svc_notebook.faces.cli import main

raise SystemExit(main())
