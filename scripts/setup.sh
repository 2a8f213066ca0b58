#!/bin/sh
# Makes the virtual environment, installs pinned dependencies and windrow itself, and sees that there is a Java.
set -eu
PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}

fail() { echo "setup: $1" >&2; exit 1; }

install_debian() {  # install Debian packages if this machine lets us
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" = 0 ]; then run=""; elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then run="sudo"; else return 1; fi
    $run apt-get update -qq && $run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

command -v "$PYTHON" >/dev/null 2>&1 || fail "Python 3.11 or newer is needed (Debian: apt-get install python3 python3-venv)"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed, and $PYTHON is $("$PYTHON" --version 2>&1); set PYTHON=python3.11"

if ! (. scripts/java.sh) >/dev/null 2>&1; then
    echo "setup: no Java 17 or newer, installing Debian's headless one"
    for package in openjdk-17-jre-headless openjdk-21-jre-headless default-jre-headless; do
        install_debian "$package" && break || true
    done
    (. scripts/java.sh) >/dev/null 2>&1 ||
        fail "Java 17 or newer is needed: install it (Debian, as root: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
fi

if [ ! -x "$VENV/bin/python" ] || ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$VENV"
    if ! "$PYTHON" -m venv "$VENV" >/dev/null 2>&1; then
        rm -rf "$VENV"
        echo "setup: $PYTHON has no venv, installing Debian's"
        install_debian python3-venv && "$PYTHON" -m venv "$VENV" ||
            fail "$PYTHON cannot make a virtual environment (Debian, as root: apt-get install python3-venv)"
    fi
fi
echo "setup: installing pinned packages into $VENV (once)"
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
# what is elsewhere (S3, HDFS, Spark Connect) is an extra: without it the tests of it skip
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements-places.txt ||
    echo "setup: the packages of requirements-places.txt are not to be had here, and their tests will skip"
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements-browser.txt ||
    echo "setup: the packages of requirements-browser.txt are not to be had here, and tests of the page will skip"
if command -v mvn >/dev/null 2>&1; then
    echo "setup: fetching jars of connectors (once)"
    "$VENV/bin/python" scripts/fetch_jars.py kafka avro postgresql broker
fi
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
"$VENV/bin/windrow" --help >/dev/null || fail "windrow was installed and does not run"
echo "setup: preparing a quick start (once, about a minute)"
(. scripts/java.sh && "$VENV/bin/windrow" warm --quick) || echo "setup: that failed; jobs will take longer to start" >&2
echo "setup: done"
