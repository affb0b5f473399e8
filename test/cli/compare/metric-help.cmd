kmstat compare --metric help
kmstat compare --by help | head -n 3
