#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# words.sh ROOT: no text has one of a few words that make readers stop: a thing is no person, and a sentence is active.
#
#   instead of a pronoun for a person            the name of the thread, the process, the function, the caller
#   instead of a passive of "ask" or "tell"      requests, needs, reports, shows
#   instead of "be" and "had" for "there is"     there is, exists, has
#   instead of siblings                          the reference implementation, the naive version
#   instead of other spellings of the name       threads-sampler, threadsampler, ThreadsSampler: java/README.md has the rule
set -euo pipefail

root=${1:?usage: words.sh ROOT}
# In brackets, so that this file does not find itself.
words='\b([Nn]obody|[Ww]hoever|[Ss]omebody|[Ee]verybody|[Aa]nybody|[Ww]hom|the one [w]ho|[Tt]wins?)\b'
words+='|\b([t]hreadssampler|[Tt]hreads [s]ampler|[T]hreads Sampler|[t]hread-sampler|[t]hreads[_.]sampler)'
words+='|\b(is|are|was|were|be|been) ([a]sked|[t]old)\b|\b([t]old apart|[a]sked for|be [h]ad)\b'

found=$(find "$root" \( -name target -o -name .git -o -name node_modules -o -name results \) -prune -o \
    -type f \( -name '*.[ch]' -o -name '*.java' -o -name '*.js' -o -name '*.sh' -o -name '*.md' -o -name '*.cmake' \
    -o -name CMakeLists.txt -o -name pom.xml -o -path "$root/.ci/*" \) -print0 |
    xargs -0 -r grep -nE "$words" /dev/null || true)
[ -z "$found" ] || { echo "words.sh: these lines need other words:" >&2; echo "$found" >&2; exit 1; }
