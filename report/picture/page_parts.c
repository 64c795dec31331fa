/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/picture/page_parts.h"

#define BEGIN(name)                                                                                          \
	".global " name "\n"                                                                                 \
	".type " name ", %object\n" name ":\n"
#define END(name)                                                                                            \
	".byte 0\n"                                                                                          \
	".size " name ", . - " name "\n"
#define FILE_OF(name) ".incbin \"report/picture/page/" name "\"\n"

/* Names of a script that is no function would be the browser's as well: `top`, `name`, `status`. */
__asm__(".pushsection .rodata\n" BEGIN("page_html") FILE_OF("page.html") END("page_html") /**/
	BEGIN("page_css") FILE_OF("page.css") END("page_css")                             /**/
	BEGIN("page_js") ".ascii \"(() => {\\n'use strict';\\n\"\n"                       /**/
	FILE_OF("format.js") FILE_OF("samples.js") FILE_OF("selection.js") FILE_OF("timeline.js")
		FILE_OF("flame.js") FILE_OF("tables.js") FILE_OF("latency.js") FILE_OF("answer.js")
			FILE_OF("main.js") /**/
	".ascii \"})();\\n\"\n" END("page_js") ".popsection\n");
