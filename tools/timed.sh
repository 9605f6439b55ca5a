#!/bin/sh
# Runs make for each TARGET in turn and prints how many minutes each took. Stops at the first that fails.
#   sh tools/timed.sh TARGET...
set -u
said=
for target; do
    start=$(date +%s)
    "${MAKE:-make}" --no-print-directory "$target" || { echo "make $target failed"; exit 1; }
    tenths=$((($(date +%s) - start) / 6))
    said="$said
  $((tenths / 10)).$((tenths % 10)) min  make $target"
    echo "$target passed after $((tenths / 10)).$((tenths % 10)) minutes"
done
echo "passed:$said"
