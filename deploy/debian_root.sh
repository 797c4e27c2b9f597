# shellcheck shell=bash
# Sourced by the scripts that make a Debian 12 of their own.

# debian_sources: lines "URL suite" of this machine's Debian 12 sources whose lists it has.
debian_sources() {
  apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u | grep ' bookworm' || true
}

# make_debian_root FOLDER [PACKAGE…]: a minimal Debian 12 with these packages. Its package sources,
# proxies and certificates are this machine's; MIRROR=URL names another mirror.
make_debian_root() {
  local root=$1 sources mirror packages file IFS=$' \t\n'
  shift
  sources=$(debian_sources)
  if [ -z "$sources" ] && [ -z "${MIRROR:-}" ]; then
    apt-get update -qq  # a machine without package lists does not know what its sources are of
    sources=$(debian_sources)
  fi
  mirror=${MIRROR:-$(awk '$2 == "bookworm" {print $1; exit}' <<<"$sources")}
  if [ -z "$mirror" ]; then
    echo "error: no Debian 12 mirror in this machine's sources; set MIRROR=URL" >&2
    return 1
  fi
  packages=$*
  if ! debootstrap --variant=minbase ${packages:+--include="${packages// /,}"} bookworm "$root" \
         "$mirror" >"$root.log" 2>&1; then
    tail -n 20 "$root.log" >&2
    echo "error: debootstrap failed" >&2
    return 1
  fi
  rm -f "$root.log"

  if [ -z "${MIRROR:-}" ]; then
    awk '{print "deb", $1, $2, "main"}' <<<"$sources" >"$root/etc/apt/sources.list"
  fi
  apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date|Retries) ' \
    >"$root/etc/apt/apt.conf.d/90host" || true
  for file in /etc/resolv.conf /etc/hosts; do
    [ ! -e "$file" ] || cp -L "$file" "$root$file"
  done
  if [ -x "$root/usr/sbin/update-ca-certificates" ] &&
     compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/"
    chroot "$root" update-ca-certificates >/dev/null
  fi
}
