"""Old path of the package `dia_language`, kept for plug-in packages."""
