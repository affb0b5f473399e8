kmstat info arm64-6.12-subbuf16k.dat
