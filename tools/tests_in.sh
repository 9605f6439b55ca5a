#!/bin/sh
# Runs tests in an environment of its own, which is made where it is missing.
#   sh tools/tests_in.sh FOLDER PYTHON REQUIREMENTS PYTEST_ARGUMENT...
# PYTHON makes the environment FOLDER, with the tools of the tests and the package as it is here;
# REQUIREMENTS (a file, or - for none) are then installed over them.
set -eu
folder=$1 python=$2 requirements=$3
shift 3
stamp="$folder/.ready"
if [ ! -e "$stamp" ] || [ requirements/test.txt -nt "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
    rm -rf "$folder"
    "$python" -m venv "$folder"
    pip="$folder/bin/pip --disable-pip-version-check -q"
    $pip install --require-hashes -r requirements/test.txt
    if [ "$requirements" != - ]; then
        $pip install --no-deps -r "$requirements"
    fi
    $pip install --no-deps -e .
    touch "$stamp"
fi
echo "tests on $("$folder/bin/python" --version), $folder:"
if [ "$requirements" != - ]; then
    sed -n 's/^\([^#]\)/  \1/p' "$requirements"
fi
exec "$folder/bin/python" -m pytest "$@"
