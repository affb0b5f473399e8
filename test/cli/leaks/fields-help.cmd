kmstat leaks -F help
