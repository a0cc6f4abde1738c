# What the faults' scripts share: each change is remembered before it is made, so that `restore` undoes all of them.
kept=/var/lib/goldnode-lab/fault
run=/run/goldnode-lab
driver=$run/proc/driver/nvidia
library=/usr/lib/x86_64-linux-gnu
toolkit="nvidia-container-toolkit nvidia-container-toolkit-base libnvidia-container-tools libnvidia-container1"
export DEBIAN_FRONTEND=noninteractive
mkdir -p "$kept"
touch "$kept/paths" "$kept/packages"

# keep PATH…: remember files and folders as they are, also that one is not there.
keep() {
    for path; do
        number=$(wc -l <"$kept/paths")
        if [ -e "$path" ] || [ -L "$path" ]; then cp -a "$path" "$kept/$number"; fi
        echo "$path" >>"$kept/paths"
    done
}

# put PATH: write stdin to a file.
put() {
    keep "$1"
    mkdir -p "$(dirname "$1")"
    cat >"$1"
}

# change SED PATH…: edit files by a sed expression.
change() {
    expression=$1
    shift
    keep "$@"
    sed -i --follow-symlinks "$expression" "$@"
}

# take PATH…: remove files and folders.
take() {
    keep "$@"
    rm -rf "$@"
}

# edit PATH STATEMENT: change a JSON file by a Python statement about `it`.
edit() {
    keep "$1"
    python3 -c 'import json, sys
path, statement = sys.argv[1:]
it = json.load(open(path))
exec(statement)
json.dump(it, open(path, "w"), indent=4)' "$1" "$2"
}

# unpack NAME=VERSION…: install packages whatever else depends on them, as a hand with dpkg does.
unpack() {
    folder=$(mktemp -d)
    fetch "$folder" "$@"
    dpkg --force-all --install "$folder"/*.deb >"$kept/dpkg.log" 2>&1 || { cat "$kept/dpkg.log" >&2; exit 1; }
    rm -r "$folder"
}

# fetch FOLDER NAME=VERSION…: packages from the node's repositories.
fetch() {
    ls /var/lib/apt/lists/*_Packages >/dev/null 2>&1 || apt-get -qq update
    (cd "$1" && shift && apt-get -qq -o APT::Sandbox::User=root download "$@" >/dev/null)
}

# replace VERSION NAME…: install packages at another version.
replace() {
    version=$1
    shift
    dpkg-query -W -f '${Package}=${Version}\n' "$@" >>"$kept/packages"
    unpack $(printf "%s=$version\n" "$@")
}

# drop NAME…: remove packages whatever depends on them.
drop() {
    dpkg-query -W -f '${Package}=${Version}\n' "$@" >>"$kept/packages"
    dpkg --force-all --remove "$@" >/dev/null 2>&1
}

# Undo everything that was remembered, the last change first.
restore() {
    number=$(wc -l <"$kept/paths")
    tac "$kept/paths" | while read -r path; do
        number=$((number - 1))
        rm -rf "$path"
        if [ -e "$kept/$number" ] || [ -L "$kept/$number" ]; then cp -a "$kept/$number" "$path"; fi
    done
    if [ -s "$kept/packages" ]; then
        unpack $(sort -u "$kept/packages")
        apt-mark -qq hold $(sed 's/=.*//' "$kept/packages")
    fi
    rm -rf "$kept"
}

restart_docker() {
    systemctl reset-failed docker.service docker.socket 2>/dev/null || true
    systemctl restart docker
}

restart_cdi() { systemctl restart goldnode-cdi.service; }

# The PCI address of the first GPU.
gpu() { ls "$run/sys/bus/pci/devices" | head -n 1; }

# kernel_says TEXT: a line in the kernel's log.
kernel_says() {
    keep "$run/kernel.log"
    printf '[%12.6f] %s\n' "$(cut -d ' ' -f 1 /proc/uptime)" "$1" >>"$run/kernel.log"
}

# answer KEY VALUE: what the first GPU answers when it is asked for its state.
answer() { change "s|^$1:.*|$1: $2|" "$driver/gpus/$(gpu)/goldnode"; }

canary() { docker images -q '*/goldnode/cuda-canary' | head -n 1; }

# serve OPTION…: a container that runs until end_service.
serve() { docker run -d --name fault-service "$@" --entrypoint python3 "$(canary)" -c 'import signal; signal.pause()' >/dev/null; }
end_service() { docker rm -f fault-service >/dev/null; }

# derive NAME SOURCE TARGET: a container image from the canary's with one more file or folder; SOURCE - is stdin.
derive() {
    docker rm -f fault-image >/dev/null 2>&1 || true
    docker create --name fault-image "$(canary)" >/dev/null
    if [ "$2" = - ]; then file=$(mktemp); cat >"$file"; chmod 0644 "$file"; else file=$2; fi
    docker cp -q "$file" "fault-image:$3"
    docker commit fault-image "$1" >/dev/null
    docker rm fault-image >/dev/null
}

forget_image() { docker rmi -f "$1" >/dev/null; }
