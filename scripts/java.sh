# To be sourced: finds Java 17 or newer and exports JAVA_HOME, or says what to install.

java_version() {
    "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

find_java() {
    for candidate in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java)" /usr/lib/jvm/*/bin/java; do
        [ -n "$candidate" ] && [ -x "$candidate" ] || continue
        version=$(java_version "$candidate")
        if [ "${version:-0}" -ge 17 ]; then
            real=$(readlink -f "$candidate")
            JAVA_HOME=$(dirname "$(dirname "$real")")
            export JAVA_HOME
            return 0
        fi
    done
    return 1
}

find_java || {
    echo "Java 17 or newer was not found. Install it (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME." >&2
    return 1 2>/dev/null || exit 1
}
