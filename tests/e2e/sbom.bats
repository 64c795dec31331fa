#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# The list of what the programs consist of: mk/sbom.sh, which `make sbom` runs.
# shellcheck disable=SC2016 # variables of jq

# bats file_tags=no-load

source "$BATS_TEST_DIRNAME/lib.bash"

setup_file() {
	export SBOM=$BUILD/bourdon.spdx.json
	[ ! -d "$BUILD/object" ] || SOURCE_DATE_EPOCH=1700000000 "$TREE/mk/sbom.sh" "$BUILD"
}

setup() {
	[ -d "$BUILD/object" ] || skip 'what was linked is known only where it was linked'
}

# holds FILTER: a condition on the document, in jq's language
holds() {
	jq --exit-status "$1" "$SBOM" > /dev/null || { echo "does not hold: $1"; false; }
}

@test "the list has every field that SPDX 2.3 demands, in its form" {
	holds '.spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and .SPDXID == "SPDXRef-DOCUMENT"'
	holds '.name | length > 0'
	holds '.documentNamespace | test("^https://[^#]+-[0-9a-f]{64}$")'
	holds '.creationInfo.created == "2023-11-14T22:13:20Z"'
	holds '.creationInfo.creators | length > 0 and all(test("^(Tool|Person|Organization): ."))'
	holds '.packages | all((.name | length > 0) and .downloadLocation == "NOASSERTION")'
	holds '.packages | all(.filesAnalyzed == has("packageVerificationCode"))'
	holds '.files | all((.fileName | startswith("./")) and (.checksums | any(.algorithm == "SHA1")))'
	holds '[.files[].checksums[] | .checksumValue | length] == [.files[].checksums[] | { SHA1: 40, SHA256: 64 }[.algorithm]]'
	holds '[.. | objects | .externalRefs? // empty | .[]] | length > 10 and all(.referenceCategory == "PACKAGE-MANAGER" and
		.referenceType == "purl" and (.referenceLocator | test("^pkg:deb/[a-z]+/[a-z0-9+.%-]+@[A-Za-z0-9.+~%-]+\\?arch=[a-z0-9]+&distro=[a-z]+$")))'
	# an id is used once, in the letters that are allowed, and each relationship is between two that exist
	holds '[.packages[], .files[] | .SPDXID] | (unique | length) == length and all(test("^SPDXRef-[A-Za-z0-9.-]+$"))'
	holds '([.SPDXID, (.packages[], .files[] | .SPDXID)]) as $ids | .relationships | all(
		(.spdxElementId | IN($ids[])) and (.relatedSpdxElement | IN($ids[])) and
		(.relationshipType | IN("DESCRIBES", "CONTAINS", "DYNAMIC_LINK", "STATIC_LINK", "DEPENDS_ON", "BUILD_TOOL_OF")))'
	holds '[.relationships[] | select(.relationshipType == "DESCRIBES")] | length == 1'
	# nothing is listed that nothing needs
	holds '[.relationships[] | .spdxElementId, .relatedSpdxElement] as $related | [.packages[], .files[] | .SPDXID] | all(IN($related[]))'
}

@test "the list has the checksums of the programs, and the version and licence of bourdon" {
	local file
	for file in bourdon bourdond bourdon-load bourdon-grant bourdon.bpf.o; do
		holds ".files[] | select(.fileName == \"./$file\") | .checksums[1].checksumValue == \"$(sha256sum < "$BUILD/$file" | cut -c 1-64)\""
	done
	[ "$(jq --raw-output '.packages[0] | "\(.name) \(.versionInfo) \(.licenseDeclared)"' "$SBOM")" = \
		"$("$BUILD/bourdon" --version | head -n 1) GPL-2.0-only" ]
	holds ".packages[0].packageVerificationCode.packageVerificationCodeValue == \"$(cd "$BUILD" && for file in bourdon{,d,-load,-grant,.bpf.o}; do
		sha1sum < "$file" | cut -c 1-40; done | sort | tr -d '\n' | sha1sum | cut -c 1-40)\""
}

@test "the list has each library that a program loads, with the installed version, and what is linked into it" {
	local program library path package version
	for program in bourdon bourdond bourdon-load bourdon-grant; do
		while read -r library _ path _; do
			[[ $path == /* && $library != linux-vdso* ]] || continue
			package=$(dpkg-query --search "$path" 2> /dev/null || dpkg-query --search "/usr$path" || dpkg-query --search "$(realpath "$path")")
			package=${package%%:*}
					version=$(dpkg-query --show --showformat '${Version}\n' "$package" | head -n 1)
			holds ".packages | any(.name == \"$package\" and .versionInfo == \"$version\")"
		done < <(ldd "$BUILD/$program")
	done
	holds '.relationships | any(.spdxElementId == "SPDXRef-File-bourdond" and .relationshipType == "DYNAMIC_LINK" and
		(.relatedSpdxElement | test("libsqlite3")))'
	holds '.relationships | any(.spdxElementId == "SPDXRef-File-bourdond" and .relationshipType == "STATIC_LINK" and
		(.relatedSpdxElement | test("libiberty")))'
	# the helper loads libcap-ng and the C library alone
	holds '[.relationships[] | select(.spdxElementId == "SPDXRef-File-bourdon-grant" and .relationshipType == "DYNAMIC_LINK")] | length == 2'
}

@test "the same programs make the same list" {
	cp "$SBOM" "$BATS_TEST_TMPDIR/first"
	TZ=Pacific/Chatham LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=1700000000 "$TREE/mk/sbom.sh" "$BUILD"
	cmp "$SBOM" "$BATS_TEST_TMPDIR/first"
}
