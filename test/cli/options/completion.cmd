kmstat completion >completion.bash
bash -n completion.bash && head -n 3 completion.bash
. ./completion.bash
complete -p kmstat
