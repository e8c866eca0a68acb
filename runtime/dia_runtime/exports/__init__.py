"""Old path of `dia_runtime.integrations`, kept for plug-in packages."""
