kmstat --version
kmstat -V
kmstat report --version
kmstat completion -V
