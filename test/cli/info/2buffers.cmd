kmstat info arm64-6.12-2buffers.dat
