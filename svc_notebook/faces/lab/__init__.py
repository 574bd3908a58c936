"""The kernel side of the JupyterLab extension: what the extension asks a kernel.

Every call has an equivalent function or verb; nothing else imports this package.
"""
