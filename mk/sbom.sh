#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make sbom: sbom.sh BUILD writes BUILD/bourdon.spdx.json, which says in SPDX 2.3 what the four programs consist of: their
# checksums, the packages whose shared libraries they load, those whose objects the linker put into them (from the linker's
# maps), and those that compiled them. The same programs on the same system give the same bytes: its date is
# SOURCE_DATE_EPOCH, else that of the commit, else today.
set -euo pipefail
export LC_ALL=C
build=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^#define BOURDON_VERSION "\(.*\)"$/\1/p' "$root/common/base/version.h")
programs=(bourdon bourdon-grant bourdon-load bourdond)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# find_package FILE: prints the package that installed it, or the file's own name where there is none. dpkg knows a file by
# the path in the package, which has /usr or not.
find_package() {
	local real path package
	real=$(realpath "$1")
	for path in "$1" "$real" "/usr$1" "/usr$real" "${1#/usr}" "${real#/usr}"; do
		package=$(dpkg-query --search "$path" 2> /dev/null | sed 's/: .*//; s/, .*//; q') || continue
		[ -z "$package" ] || { echo "$package"; return; }
	done
	basename "$1"
}

# package_of FILE: sets `package`; asks dpkg once for each file
declare -A packages=()
package_of() {
	[ -n "${packages[$1]-}" ] || packages[$1]=$(find_package "$1")
	package=${packages[$1]}
}

# describe PACKAGE: its name, version, architecture, source and source's version, as one line of JSON
describe() {
	# shellcheck disable=SC2016 # these are dpkg's variables
	dpkg-query --show --showformat '${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n' "$1" 2> /dev/null |
		head -n 1 | jq --raw-input --compact-output --arg key "$1" 'split("\t") |
			{ key: $key, name: .[0], version: .[1], architecture: .[2], source: .[3], source_version: .[4] }'
}

# relate FROM TYPE TO: a relationship between a file or package and a package
relate() {
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> "$work/relations"
}

# libraries FILE: the paths of the shared libraries that it names itself, as the dynamic linker finds them
libraries() {
	local needed
	readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r needed; do
		[[ $needed == ld-linux* ]] || ldd "$1" | awk -v name="$needed" '$1 == name { print $3 }'
	done
}

# built_in PROGRAM: the objects and archives of other packages that the linker put into it
built_in() {
	sed -n '/^Archive member included/,/^Discarded input sections\|^Memory Configuration/s/^\(\/[^ ]*\.a\)(.*/\1/p
		s/^LOAD \(\/.*\.o\)$/\1/p' "$build/object/$1.map" | while read -r file; do realpath "$file"; done | sort -u
}

# walk FILE KEY: the packages of its libraries, and of theirs
walk() {
	local library type=DEPENDS_ON
	[[ $2 != file:* ]] || type=DYNAMIC_LINK
	while read -r library; do
		package_of "$library"
		[ "$package" = "$2" ] || relate "$2" "$type" "$package"
		grep -qxF "$library" "$work/walked" && continue
		echo "$library" >> "$work/walked"
		walk "$library" "$package"
	done < <(libraries "$1")
}

: > "$work/walked"
for program in "${programs[@]}"; do
	walk "$build/$program" "file:$program"
	for file in $(built_in "$program"); do
		package_of "$file"
		relate "file:$program" STATIC_LINK "$package"
	done
done
for tool in "${CC:-gcc}" "${CLANG:-clang}" "${BPFTOOL:-bpftool}" ld; do
	package_of "$(realpath "$(command -v "$tool")")"
	relate "$package" BUILD_TOOL_OF bourdon
done
sort -u -o "$work/relations" "$work/relations"

cut -f 1,3 "$work/relations" | tr '\t' '\n' | grep -v '^file:\|^bourdon$' | sort -u | while read -r key; do
	describe "$key" | grep . || jq --null-input --compact-output --arg key "$key" '{ key: $key, name: $key }'
done > "$work/packages"
for file in "${programs[@]}" bourdon.bpf.o; do
	printf '%s\t%s\t%s\n' "$file" "$(sha1sum < "$build/$file" | cut -c 1-40)" "$(sha256sum < "$build/$file" | cut -c 1-64)"
done > "$work/files"

epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2> /dev/null || date +%s)}
# shellcheck source=/dev/null
distribution=$(. /etc/os-release && echo "$ID")
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")

jq --null-input --arg version "$version" --argjson epoch "$epoch" --arg distribution "$distribution" \
	--arg release "$release" --rawfile relations "$work/relations" --rawfile files "$work/files" \
	--slurpfile packages "$work/packages" '
def id: "SPDXRef-" + (if startswith("file:") then "File-" + .[5:] else "Package-" + . end | gsub("[^A-Za-z0-9.-]"; "-"));
def table: split("\n") | map(select(. != "") | split("\t"));
def relation($from; $type; $to): { spdxElementId: $from, relationshipType: $type, relatedSpdxElement: $to };
($files | table) as $files |
{
	spdxVersion: "SPDX-2.3",
	dataLicense: "CC0-1.0",
	SPDXID: "SPDXRef-DOCUMENT",
	name: "bourdon-\($version)",
	creationInfo: { created: ($epoch | todateiso8601), creators: ["Tool: bourdon-sbom-\($version)"] },
	packages: ([{
		SPDXID: "SPDXRef-Package-bourdon",
		name: "bourdon",
		versionInfo: $version,
		downloadLocation: "NOASSERTION",
		primaryPackagePurpose: "APPLICATION",
		filesAnalyzed: true,
		packageVerificationCode: { packageVerificationCodeValue: "@CODE@" },
		licenseConcluded: "GPL-2.0-only",
		licenseDeclared: "GPL-2.0-only",
		copyrightText: "NOASSERTION"
	}] + [$packages[] | {
		SPDXID: (.key | id),
		name,
		downloadLocation: "NOASSERTION",
		filesAnalyzed: false,
		licenseConcluded: "NOASSERTION",
		licenseDeclared: "NOASSERTION",
		copyrightText: "NOASSERTION"
	} + (if .version then {
		versionInfo: .version,
		sourceInfo: "built from source package \(.source) \(.source_version)",
		externalRefs: [{
			referenceCategory: "PACKAGE-MANAGER",
			referenceType: "purl",
			referenceLocator: "pkg:deb/\($distribution)/\(.name | @uri)@\(.version | @uri)?arch=\(.architecture)&distro=\($release)"
		}]
	} else {} end)]),
	files: [$files[] | {
		SPDXID: ("file:" + .[0] | id),
		fileName: "./\(.[0])",
		fileTypes: ["BINARY"],
		checksums: [{ algorithm: "SHA1", checksumValue: .[1] }, { algorithm: "SHA256", checksumValue: .[2] }],
		licenseConcluded: "GPL-2.0-only",
		copyrightText: "NOASSERTION"
	}],
	relationships: ([relation("SPDXRef-DOCUMENT"; "DESCRIBES"; "SPDXRef-Package-bourdon")]
		+ [$files[] | relation("SPDXRef-Package-bourdon"; "CONTAINS"; "file:" + .[0] | id)]
		+ [relation("SPDXRef-File-bourdon-load"; "CONTAINS"; "SPDXRef-File-bourdon.bpf.o")]
		+ [$relations | table[] | relation(.[0] | id; .[1]; .[2] | id)])
}' > "$work/document"

# the spec's "package verification code": SHA-1 of all SHA-1, sorted, without anything between them
code=$(cut -f 2 "$work/files" | sort | tr -d '\n' | sha1sum | cut -c 1-40)
sed -i "s/@CODE@/$code/" "$work/document"
# unique, because it follows from the content
digest=$(sha256sum < "$work/document" | cut -c 1-64)
jq --arg namespace "https://spdx.org/spdxdocs/bourdon-$version-$digest" '.documentNamespace = $namespace' "$work/document" > "$build/bourdon.spdx.json"
echo "$build/bourdon.spdx.json: $(jq '.packages | length' "$build/bourdon.spdx.json") packages, $(jq '.files | length' "$build/bourdon.spdx.json") files"
