kmstat leaks --help
