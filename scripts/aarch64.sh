#!/usr/bin/env bash
# Tests the environments on aarch64, emulated by qemu: Linkage's quick tests, and hashes of seeded
# games that must equal those of this processor. Needs root, a Debian, and its packages debootstrap
# and qemu-user-static. The first argument is a folder for a Debian of aarch64 (600 MB), which is made
# if it isn't there; others choose other tests than Linkage's. PYTHON is an interpreter here with
# linkzoo's packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root="$(realpath -m "$1")"
tests=("${@:2}")
[ "${#tests[@]}" -gt 0 ] || tests=(tests/linkage)
suite=bookworm version=3.11 # Debian's release, and its Python

if [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
    mountpoint -q /proc/sys/fs/binfmt_misc || mount binfmt_misc -t binfmt_misc /proc/sys/fs/binfmt_misc
    update-binfmts --enable qemu-aarch64
fi
if [ ! -e "$root/.made" ]; then
    # Its second stage would run every package's scripts, emulated, for some minutes.
    debootstrap --foreign --arch=arm64 --variant=minbase --include=python3 "$suite" "$root"
    for package in "$root"/var/cache/apt/archives/*.deb; do
        dpkg-deb --extract "$package" "$root"
    done
    mapfile -t packages < <("$PYTHON" -c 'import tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["dependencies"], sep="\n")')
    platforms=()
    for glibc in 17 24 26 27 28 31 34; do platforms+=(--platform "manylinux_2_${glibc}_aarch64"); done
    "$PYTHON" -m pip install --quiet --target "$root/packages" --only-binary :all: "${platforms[@]}" \
        --platform manylinux2014_aarch64 --python-version "$version" -c "locks/$version.txt" \
        "${packages[@]}" hypothesis pytest pytest-xdist
    touch "$root/.made"
fi

rm -rf "$root/clone"
mkdir "$root/clone"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$root/clone"

hashes="from tests.common import fingerprint
for name, value in fingerprint.fingerprints(2, 'one').items():
    print(name, value)"
PYTHONPATH=envs "$PYTHON" -c "$hashes" >"$root/clone/expected.txt"

# The mounts end with the process.
unshare --mount bash -s "$root" "$hashes" "${tests[@]}" <<'INSIDE'
set -euo pipefail
for folder in proc dev; do mount --rbind "/$folder" "$1/$folder"; done
inside() {
    chroot "$1" /usr/bin/env -i HOME=/tmp PATH=/usr/bin:/bin PYTHONPATH=/clone/envs:/packages \
        sh -c 'cd /clone && exec python3 "$@"' python3 "${@:2}"
}
inside "$1" -c 'import platform, numba, numpy
print(platform.machine(), "Python", platform.python_version(), "numba", numba.__version__, "numpy", numpy.__version__)'
inside "$1" -c "$2" | tee "$1/clone/found.txt"
diff "$1/clone/expected.txt" "$1/clone/found.txt"
echo "the same games as on $(uname -m)"
inside "$1" -m pytest -q -m "not slow" -p no:cacheprovider "${@:3}"
INSIDE
