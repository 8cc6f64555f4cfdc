#!/bin/sh
# Makes the site of the documents in .cache/docs/site; a link that leads nowhere is an error.
#
# The documents lie side by side in .cache/docs/pages as they do here, so that the same links hold in a clone and on the site.
set -eu
cd "$(dirname "$0")/.."

uv=$(dev/uv.sh)
environment=.cache/docs/environment
[ -x "$environment/bin/python" ] || "$uv" venv --quiet --python '>=3.11' "$environment"
"$uv" pip sync --quiet --python "$environment/bin/python" --require-hashes dev/docs.lock

rm -rf .cache/docs/pages .cache/docs/site
mkdir -p .cache/docs/pages
cp README.md METHODOLOGY.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE-* .cache/docs/pages
cp -R docs .cache/docs/pages/docs
# A log of the theme's about a later version of mkdocs; it is no warning about the documents.
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict --config-file dev/mkdocs.yml
echo "the site is .cache/docs/site/index.html"
