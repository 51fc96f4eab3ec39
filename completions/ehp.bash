# SPDX-License-Identifier: MIT
# Completion of the ehp command for bash.
_ehp() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-} i
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "cc run advise compare disasm counters info chips cache config validate isa help" -- "$cur")
        return
    fi
    case $command in
    run)
        # Once the program is named, its own arguments follow: files are the best guess.
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            --chip | --node | --partition | --nps | --xcc-chunk | --threads | --timeout | --mode | --engine | --bounds | --counters | --counters-file) i=$((i + 1)) ;;
            -*) ;;
            *) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
            esac
        done
        case $prev in
        --chip | --node) mapfile -t COMPREPLY < <(compgen -W "$(ehp chips 2>/dev/null | awk 'NR > 0 {print $1}')" -- "$cur") ;;
        --partition) mapfile -t COMPREPLY < <(compgen -W "spx dpx tpx qpx cpx" -- "$cur") ;;
        --nps) mapfile -t COMPREPLY < <(compgen -W "1 4" -- "$cur") ;;
        --threads | --timeout | --xcc-chunk) ;;
        --engine) mapfile -t COMPREPLY < <(compgen -W "auto interpreter compiled" -- "$cur") ;;
        --bounds) mapfile -t COMPREPLY < <(compgen -W "warn fault off" -- "$cur") ;;
        --mode) mapfile -t COMPREPLY < <(compgen -W "functional timing" -- "$cur") ;;
        --counters) mapfile -t COMPREPLY < <(compgen -W "all $(ehp counters 2>/dev/null | awk '{print $2}')" -- "$cur") ;;
        --counters-file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        *)
            case $cur in
            -*) mapfile -t COMPREPLY < <(compgen -W \
                "--chip --node --partition --nps --xcc-chunk --threads --xnack --timeout --mode --engine --bounds --isolate --sample
                --no-sdma --stats --counters --counters-file --memory --fabric --no-progress --help" -- "$cur") ;;
            *) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
            esac
            ;;
        esac
        ;;
    advise)
        case $prev in
        --chip | --node) mapfile -t COMPREPLY < <(compgen -W "$(ehp chips 2>/dev/null | awk '{print $1}')" -- "$cur") ;;
        --partition) mapfile -t COMPREPLY < <(compgen -W "spx dpx tpx qpx cpx" -- "$cur") ;;
        --mode) mapfile -t COMPREPLY < <(compgen -W "functional timing" -- "$cur") ;;
        *)
            case $cur in
            -*) mapfile -t COMPREPLY < <(compgen -W "--json --mode --chip --node --partition --nps --xcc-chunk --threads --xnack --help" -- "$cur") ;;
            *) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
            esac
            ;;
        esac
        ;;
    compare)
        # Chips, then the program behind two dashes.
        for ((i = 2; i < COMP_CWORD; i++)); do
            [ "${COMP_WORDS[i]}" = -- ] && { mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return; }
        done
        case $prev in
        --only) mapfile -t COMPREPLY < <(compgen -W "near far whole matrix messages cpu-latency cpu-read backprop dwt2d heartwall hotspot nn srad" -- "$cur") ;;
        --json) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        --threads) ;;
        *) mapfile -t COMPREPLY < <(compgen -W "--only --all --json --threads --help -- $(ehp chips 2>/dev/null | awk '{print $1}')" -- "$cur") ;;
        esac
        ;;
    info)
        case $prev in
        --chip | --node) mapfile -t COMPREPLY < <(compgen -W "$(ehp chips 2>/dev/null | awk '{print $1}')" -- "$cur") ;;
        --partition) mapfile -t COMPREPLY < <(compgen -W "spx dpx tpx qpx cpx" -- "$cur") ;;
        *) mapfile -t COMPREPLY < <(compgen -W "--chip --node --partition --nps --xcc-chunk --threads --xnack --help" -- "$cur") ;;
        esac
        ;;
    chips)
        if [ "$COMP_CWORD" = 2 ]; then
            mapfile -t COMPREPLY < <(compgen -W "show --guesses" -- "$cur")
        else
            mapfile -t COMPREPLY < <(compgen -W "$(ehp chips 2>/dev/null | awk '{print $1}')" -- "$cur")
        fi
        ;;
    disasm)
        case $cur in
        -*) mapfile -t COMPREPLY < <(compgen -W "--kernel --source --list --hazards --chip --help" -- "$cur") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        esac
        ;;
    counters)
        mapfile -t COMPREPLY < <(compgen -W "--markdown --help $(ehp counters 2>/dev/null | awk '{print $2}')" -- "$cur")
        ;;
    validate) mapfile -t COMPREPLY < <(compgen -W "--only --chip --json --html --markdown --sensitivity --seconds --jobs --help occupancy memory infinity_cache fence l2 atomics latency vl1 litmus host node upm-apps counters rates lds launch upm copies chip" -- "$cur") ;;
    cache) mapfile -t COMPREPLY < <(compgen -W "--clear --help" -- "$cur") ;;
    isa) mapfile -t COMPREPLY < <(compgen -W "--coverage --help" -- "$cur") ;;
    config)
        mapfile -t COMPREPLY < <(compgen -W "--path --rocmpath --cpp_config --compiler --platform --runtime
            --hipclangpath --version --check --newline --full --help" -- "$cur")
        ;;
    cc)
        case $cur in
        -*) mapfile -t COMPREPLY < <(compgen -W "-c -o -O0 -O1 -O2 -O3 -g -S -E -shared -fPIC -fgpu-rdc --time-host --genco
            --offload-arch=gfx942 --rocm-path= -std=c++17 -std=c++20 -save-temps -v --version --help
            --cxxflags --ldflags" -- "$cur") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        esac
        ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    esac
}
complete -o filenames -F _ehp ehp
