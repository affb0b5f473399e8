kmstat report --by help
