# Warnings go to standard error.
kmstat size --format csv x86_64-6.12-gt-leaky.dat
