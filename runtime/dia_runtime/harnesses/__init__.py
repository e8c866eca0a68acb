"""The paths that exported tasks import; the code itself is in `dia_runtime.integrations`."""
