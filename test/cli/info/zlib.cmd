kmstat info arm64-6.12-v7zlib.dat
