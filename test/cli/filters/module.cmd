kmstat report --module leaky -n 4 x86_64-6.12-gt-leaky.dat
kmstat report --module '!leaky' --format csv -q -F symbol,module -n 2 x86_64-6.12-gt-leaky.dat
