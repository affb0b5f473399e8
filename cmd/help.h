/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * help: what the tables of options.h look like to a user: the text of
 * --help, and a completion script. It knows no option and no command by
 * name. Whether the stream took it all is the caller's to check.
 */
#ifndef KM_HELP_H
#define KM_HELP_H

#include <stdio.h>

#include "options.h"

#define HELP_COLUMNS 80

/* `kmstat --help`: the commands. */
void help_overview(FILE *stream);
/* `kmstat COMMAND --help`: its options by group, no line longer than HELP_COLUMNS. */
void help_print(FILE *stream, enum command_id command);
/*
 * A completion script for bash (4.0 or later). It needs nothing of the
 * bash-completion package: it may be loaded by it when kmstat is first
 * completed, or sourced.
 */
void help_completion(FILE *stream);

#endif
