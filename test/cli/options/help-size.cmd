kmstat size --help
