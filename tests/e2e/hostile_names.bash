# SPDX-License-Identifier: GPL-2.0-only
#
# Names that a terminal, a shell, SQL, JSON or a browser would interpret, and the check that none of them does.
# shellcheck disable=SC2034 # others use these

# The shell compares bytes, not characters.
export LC_ALL=C

LONG=$(printf 'x%.0s' {1..249})$'\xe2\x82\xac\xe2\x82\xac' # 255 bytes
NAMES=(
	$'\e]0;owned\a'                   # sets the title of a terminal
	$'\e[2J\e[31m'                    # clears a terminal
	$'\x9b31m\x85\x90'                # the same without ESC, as bytes
	$'\xc2\x9b31m\xc2\x85'            # and as characters
	$'\'"`$(id)`"\''                  # quotes
	$'a\\x1b\\n\\'                    # looks escaped, and ends with a backslash
	'<script>alert(1)</script>&amp;'  # HTML
	$'a\nb\r\tc\n 7'                  # lines
	'a;b;main 42'                     # separators of a folded line
	$'\xff\xc0\x80\x80a\xed\xa0\x80z' # invalid UTF-8: impossible byte, overlong, lone continuation, surrogate
	$'\xe2\x80\xaegpj.exe\xe2\x80\x8b' # reverses the text direction; is invisible
	'=1+1'                            # a formula
	'-rf'                             # an option
	'%s%n%1x'                         # a format
	"');DROP TABLE sample;--"         # SQL
	"$LONG"
)

# assert_text FILE: it is valid UTF-8 without control characters and invisible characters
assert_text() {
	perl -MEncode -0777 -ne '
		s/\r\n/\n/g if $ENV{PTY};
		my $text = eval { decode("UTF-8", $_, Encode::FB_CROAK) };
		die "$ARGV: no UTF-8\n" if !defined $text;
		die sprintf("%s: U+%04X at %d: %s\n", $ARGV, ord $1, pos $text, substr($_, 0, 400))
			if $text =~ /([^\P{Cc}\n]|[\x{202a}-\x{202e}\x{2066}-\x{2069}\x{200b}-\x{200f}\x{feff}])/g;' "$1"
}
