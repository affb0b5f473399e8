kmstat report --sort help
