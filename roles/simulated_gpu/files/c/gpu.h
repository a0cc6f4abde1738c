/*
 * What both stand-in libraries know about the GPUs of this node.
 *
 * The real libraries ask the kernel module by ioctl on /dev/nvidiactl. There is no kernel module here, so its answers
 * are files below GOLDNODE_PROCFS/driver/nvidia, written by the lab's boot unit. The device nodes are opened as the
 * real ones are: which nodes exist, what their major is and who may open them decides, not these files.
 * Simpler than the real thing: nothing here calls nvidia-modprobe to make a missing node.
 */
#ifndef GOLDNODE_GPU_H
#define GOLDNODE_GPU_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef GOLDNODE_PROCFS
#define GOLDNODE_PROCFS "/run/goldnode-lab/proc"
#endif
#ifndef GOLDNODE_DEV
#define GOLDNODE_DEV "/dev"
#endif
#ifndef GOLDNODE_MAJOR
#define GOLDNODE_MAJOR 195 /* nvidia-frontend, Documentation/admin-guide/devices.txt */
#endif

#define DRIVER_DIR GOLDNODE_PROCFS "/driver/nvidia"
#define MAX_GPUS 16
#define MAX_SLICES 7
#define TEXT 128

struct slice {
    int gpu_instance, compute_instance, minor;
    long long memory;
    char profile[TEXT], uuid[TEXT];
};

struct gpu {
    char address[TEXT], uuid[TEXT], name[TEXT];
    int minor, node_error, slices;
    long long memory;
    struct slice slice[MAX_SLICES];
};

/* One exported symbol says in every process that this GPU is not real. */
__attribute__((visibility("default"))) const int goldnode_simulated = 1;

/* The text after "KEY:" in a file; 0 if it is there. */
static int read_field(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    size_t length = strlen(key);
    FILE *file = fopen(path, "r");
    int found = -1;

    while (file && found && fgets(line, sizeof line, file))
        if (!strncmp(line, key, length) && line[length] == ':') {
            char *value = line + length + 1 + strspn(line + length + 1, " \t");
            value[strcspn(value, "\n")] = 0;
            snprintf(out, size, "%s", value);
            found = 0;
        }
    if (file)
        fclose(file);
    return found;
}

static long long read_number(const char *path, const char *key, long long otherwise)
{
    char text[TEXT];
    return read_field(path, key, text, sizeof text) ? otherwise : strtoll(text, NULL, 0);
}

/* 0, or why this process cannot use a device node. ENXIO from open is what a node without a kernel module says;
   a node with a wrong major says the same in life, so the major is compared before. SYS_stat keeps the library
   loadable on a glibc older than 2.33. */
static int node_error(const char *name, unsigned wanted_major)
{
    char path[TEXT];
    struct stat node;
    int fd;

    snprintf(path, sizeof path, "%s/%s", GOLDNODE_DEV, name);
    if (syscall(SYS_stat, path, &node))
        return errno;
    if (!S_ISCHR(node.st_mode) || major(node.st_rdev) != wanted_major)
        return ENXIO;
    /* Capability nodes give leave to read alone (mode 0444). */
    fd = open(path, (strncmp(name, "nvidia-caps/", 12) ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd < 0)
        return errno == ENXIO ? 0 : errno;
    close(fd);
    return 0;
}

/* The version in "NVRM version: NVIDIA UNIX … Kernel Module …  580.178.04  …": the first word that has the form of one. */
static int loaded_version(char *out, size_t size)
{
    char line[512], *word;

    if (read_field(DRIVER_DIR "/version", "NVRM version", line, sizeof line))
        return -1;
    for (word = strtok(line, " "); word; word = strtok(NULL, " "))
        if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.')) {
            snprintf(out, size, "%s", word);
            return 0;
        }
    return -1;
}

/* "MIG <n>: GI CI MINOR BYTES PROFILE UUID"; a slice counts where its capability node can be opened. */
static void read_slices(const char *path, struct gpu *gpu, unsigned caps_major)
{
    int index;

    for (index = 0; index < MAX_SLICES; index++) {
        struct slice *slice = &gpu->slice[gpu->slices];
        char key[TEXT], text[256], name[TEXT];
        snprintf(key, sizeof key, "MIG %d", index);
        if (read_field(path, key, text, sizeof text))
            return;
        if (sscanf(text, "%d %d %d %lld %127s %127s", &slice->gpu_instance, &slice->compute_instance, &slice->minor,
                   &slice->memory, slice->profile, slice->uuid) != 6)
            return;
        snprintf(name, sizeof name, "nvidia-caps/nvidia-cap%d", slice->minor);
        if (!node_error(name, caps_major))
            gpu->slices++;
    }
}

static void facts_path(const struct gpu *gpu, const char *file, char *out, size_t size)
{
    snprintf(out, size, "%s/gpus/%s/%s", DRIVER_DIR, gpu->address, file);
}

static int read_gpu(const char *address, struct gpu *gpu)
{
    char path[512], name[TEXT];

    memset(gpu, 0, sizeof *gpu);
    snprintf(gpu->address, sizeof gpu->address, "%.100s", address);
    facts_path(gpu, "information", path, sizeof path);
    if (read_field(path, "Model", gpu->name, sizeof gpu->name) || read_field(path, "GPU UUID", gpu->uuid, sizeof gpu->uuid))
        return -1;
    gpu->minor = (int)read_number(path, "Device Minor", -1);
    facts_path(gpu, "goldnode", path, sizeof path);
    gpu->memory = read_number(path, "Memory Bytes", 0);
    read_slices(path, gpu, (unsigned)read_number(DRIVER_DIR "/goldnode", "Caps Major", 0));
    snprintf(name, sizeof name, "nvidia%d", gpu->minor);
    gpu->node_error = node_error(name, GOLDNODE_MAJOR);
    return 0;
}

static int by_address(const void *left, const void *right)
{
    return strcmp(((const struct gpu *)left)->address, ((const struct gpu *)right)->address);
}

/* Every GPU whose device node is there, in the order of PCI addresses. */
static int read_gpus(struct gpu *gpus)
{
    DIR *folder = opendir(DRIVER_DIR "/gpus");
    struct dirent *entry;
    int count = 0;

    while (folder && count < MAX_GPUS && (entry = readdir(folder)))
        if (entry->d_name[0] != '.' && !read_gpu(entry->d_name, &gpus[count]) && gpus[count].node_error != ENOENT)
            count++;
    if (folder)
        closedir(folder);
    qsort(gpus, (size_t)count, sizeof *gpus, by_address);
    return count;
}

#endif
