kmstat events -F help
